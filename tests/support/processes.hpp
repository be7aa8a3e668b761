#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kumiki::tests {

/// How a process ended.
struct Ending {
    std::optional<int> code;   ///< its exit code
    std::optional<int> signal; ///< or the signal that killed it
};

/// Child processes of a test. Those that still run at the end are killed, so that nothing stays behind, whatever a test
/// finds.
class Processes {
public:
    Processes() = default;
    ~Processes();
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    /// Forks; the child runs `body` and exits with 0, or with 1 if an expectation failed in it.
    void start(const std::function<void()>& body);

    int count() const { return static_cast<int>(children_.size()); }
    /// Does nothing if the process has ended.
    void kill(int which, int signal);
    /// Returns when no thread of the process runs any more; kill() with SIGCONT lets them go on.
    void stop(int which);
    /// How the process ended, also if it was asked before; nothing if it did not end within `patience`.
    std::optional<Ending> ended_within(int which, std::chrono::milliseconds patience);

private:
    struct Child {
        pid_t id;
        std::optional<Ending> ending; ///< of a process that is no more, so another one may have its number
    };
    std::vector<Child> children_;
};

/// Expects that all processes end with code 0 in time.
void expect_good_ends(Processes& processes, std::chrono::milliseconds patience = std::chrono::seconds(60));

} // namespace kumiki::tests
