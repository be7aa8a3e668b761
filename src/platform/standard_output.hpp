#pragma once

#include <string_view>

#include "error/result.hpp"

namespace kumiki::platform {

/// Writes text to standard output, to its last byte. Fails where that takes no more, as on a full disk: what a command
/// has lost, its exit code must say.
Result<> write_standard_output(std::string_view text);

} // namespace kumiki::platform
