#include "launch/controller/remote_shell.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "launch/command/outcome.hpp"

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

constexpr int exit_without_program = 127;

/// How long a process may take to die after SIGKILL.
constexpr auto death_limit = 1s;

[[noreturn]] void become_remote_shell(std::vector<std::string>& command, pid_t controller,
                                      const InheritedState& inherited, const int streams[3], int failure) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != controller) _exit(exit_without_program);
    // In a session without a terminal, Ctrl-C reaches only the controller, and a remote shell that would ask for a
    // password fails instead.
    setsid();
    for (int stream = 0; stream < 3; ++stream) dup2(streams[stream], stream);
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    inherited.restore();
    execvp(arguments[0], arguments.data());
    static_cast<void>(!write(failure, &errno, sizeof errno));
    _exit(exit_without_program);
}

} // namespace

Result<RemoteShell> start_remote_shell(std::vector<std::string> command, const InheritedState& inherited) {
    platform::Pipe input = platform::Pipe::create(), output = platform::Pipe::create(),
                   errors = platform::Pipe::create(), failure = platform::Pipe::create();
    const pid_t controller = getpid();
    const pid_t process = input && output && errors && failure ? fork() : -1;
    if (process == 0) {
        const int streams[3] = {input.read.get(), output.write.get(), errors.write.get()};
        become_remote_shell(command, controller, inherited, streams, failure.write.get());
    }
    if (process < 0)
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("cannot start the remote shell: {}; the limits of the user (ulimit -u, ulimit -n) do not allow "
                        "another process",
                        std::strerror(errno)));
    failure.write.reset();
    int error = 0;
    if (read(failure.read.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
        waitpid(process, nullptr, 0);
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("{}; it is the remote shell, which --remote-shell names",
                                                          cannot_run(command.front(), error)));
    }
    fcntl(errors.read.get(), F_SETFL, O_NONBLOCK);
    return RemoteShell{process, std::move(input.write), std::move(output.read), std::move(errors.read)};
}

RemoteShellEnd end_remote_shell(pid_t shell, std::chrono::milliseconds patience,
                                const std::function<void()>& meanwhile) {
    using Clock = std::chrono::steady_clock;
    const auto kill_at = Clock::now() + patience, give_up_at = kill_at + death_limit;
    int status = 0;
    bool killed = false;
    while (waitpid(shell, &status, WNOHANG) == 0) {
        const auto now = Clock::now();
        if (now > give_up_at) return {};
        if (now > kill_at) {
            killed = true;
            kill(-shell, SIGKILL);
            kill(shell, SIGKILL); // it may not have its own group yet
        }
        meanwhile();
        std::this_thread::sleep_for(1ms);
    }
    return {true, killed ? std::nullopt : std::optional(status)};
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return "was killed by " + signal_of(status);
    return fmt::format("ended with code {}", WEXITSTATUS(status));
}

} // namespace kumiki::launch
