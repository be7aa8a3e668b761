#pragma once

#include <array>
#include <functional>

#include "support/processes.hpp"
#include "support/ranks.hpp"

namespace kumiki::tests {

/// Two ranks on two hosts, each a process of its own, as one of them can then be stopped or end while the other goes
/// on. They find each other through pipes.
class RankPair {
public:
    RankPair();
    ~RankPair();
    RankPair(const RankPair&) = delete;
    RankPair& operator=(const RankPair&) = delete;

    /// Starts the process of a rank, which runs `body` and leaves after a barrier. Must be called while this process
    /// has no other thread (a Watchdog): ThreadSanitizer would take the ranks' threads for these.
    void start(int rank, const std::function<void(Rank&)>& body);
    Processes& processes() { return processes_; }

private:
    void run(int rank, const std::function<void(Rank&)>& body);

    std::array<std::array<int, 2>, 2> pipes_{}; ///< by the rank that reads
    Processes processes_;
};

} // namespace kumiki::tests
