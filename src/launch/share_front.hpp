#pragma once

#include <string_view>

namespace kumiki::launch {

/// The hidden option by which the front over several hosts starts this program on each of them.
inline constexpr std::string_view keep_option = "--keep";

/// The front of one host's share of a job over several hosts: takes its orders from standard input, answers on standard
/// output (message.hpp), and runs the share as a job on this host is run. `argv` is main's own.
int run_share(char** argv);

} // namespace kumiki::launch
