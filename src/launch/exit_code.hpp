#pragma once

namespace kumiki::launch {

/// The launcher's own exit codes (docs/run.md); besides them it returns the code of the rank that failed, and 128 + a
/// signal's number.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failed = 1;      ///< a rank ended without leaving the job
inline constexpr int usage = 2;       ///< the command line or a setting is wrong
inline constexpr int environment = 3; ///< the program or the machine is not usable
inline constexpr int signal_base = 128;
} // namespace exit_code

} // namespace kumiki::launch
