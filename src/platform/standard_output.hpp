#pragma once

#include <string_view>

#include "error/result.hpp"

namespace kumiki::platform {

/// Writes the whole text to standard output. Fails if it cannot be written, as on a full disk, so that the exit code of
/// a command can tell that output was lost.
Result<> write_standard_output(std::string_view text);

} // namespace kumiki::platform
