#pragma once

namespace kumiki::launch {

/// The main function of `kumiki-run --host-daemon`, which the controller starts on each host: takes the order from
/// standard input, answers on standard output (message.hpp), and runs its host's share as a job on this host is run.
/// `argv` is main's own.
int remote_main(char** argv);

} // namespace kumiki::launch
