#pragma once

namespace kumiki::platform {

/// The instruction whose fault the calling thread handles (FaultHandler::fault); null: not known on this processor.
const void* faulting_instruction();

} // namespace kumiki::platform
