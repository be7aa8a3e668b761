#pragma once

namespace kumiki::launch {

/// The main function of `kumiki-run --host-daemon`, which the controller starts on each host: receives the instructions
/// on standard input, answers on standard output (message.hpp), and then runs its host's share in the same way as a job
/// on one host. `argv` is main's own.
int remote_main(char** argv);

} // namespace kumiki::launch
