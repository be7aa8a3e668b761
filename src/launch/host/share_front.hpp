#pragma once

namespace kumiki::launch {

/// The front of one host's share of a job over several hosts: takes its orders from standard input, answers on standard
/// output (message.hpp), and runs the share as a job on this host is run. `argv` is main's own.
int run_share(char** argv);

} // namespace kumiki::launch
