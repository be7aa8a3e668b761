#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

#include "launch/command/hosts.hpp"
#include "platform/process.hpp"

namespace kumiki::launch {

/// A rank that does not run because it has been stopped.
struct StoppedRank {
    int rank = 0; ///< in the job
    pid_t process = 0;
    bool by_debugger = false;
};

/// Records which ranks of a host are stopped, and for how many beats of the host daemon.
class StoppedRanks {
public:
    explicit StoppedRanks(const Share& share) : first_(share.first), seen_(static_cast<std::size_t>(share.ranks)) {}

    /// Checks a rank: the process that was started (0: it has ended), and the process that joined the job (0: none
    /// has), which may be a descendant of the first.
    void look(int local_rank, pid_t process, pid_t joined);
    /// The number of stopped ranks.
    int count() const;
    /// Counts one more beat, and returns the ranks that have now been stopped for a whole timeout.
    std::vector<StoppedRank> beat();

private:
    void set_state(int local_rank, pid_t process, platform::ProcessStatus::State state);

    struct Seen {
        pid_t process = 0;
        platform::ProcessStatus::State state = platform::ProcessStatus::State::alive;
        int beats = 0; ///< since it was first found stopped
    };
    int first_;
    std::vector<Seen> seen_; ///< by local rank
};

/// The sentence for a rank whose stop ends the job.
std::string end_of(const StoppedRank& stopped, const Share& share, std::chrono::seconds timeout);

/// The sentence for a stopped rank that the job waits for.
std::string wait_for(const StoppedRank& stopped, const Share& share);

} // namespace kumiki::launch
