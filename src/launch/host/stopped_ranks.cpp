#include "launch/host/stopped_ranks.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "launch/command/outcome.hpp"
#include "launch/system/descendants.hpp"
#include "launch/system/timer.hpp"

namespace kumiki::launch {

using State = platform::ProcessStatus::State;

namespace {

State state_of(pid_t process) {
    const auto status = process == 0 ? std::nullopt : platform::status_of(process);
    return status ? status->state : State::dead;
}

bool is_stopped(State state) { return state == State::stopped || state == State::traced; }

} // namespace

void StoppedRanks::look(int local_rank, pid_t process, pid_t joined) {
    const State own = state_of(process);
    if (process == 0 || joined == 0 || joined == process || is_stopped(own)) return set_state(local_rank, process, own);
    // A rank in a process namespace of its own has joined with a process number that means another process here.
    const State other = state_of(joined);
    const auto family = is_stopped(other) ? descendants() : std::vector<pid_t>();
    if (std::ranges::find(family, joined) != family.end()) set_state(local_rank, joined, other);
    else set_state(local_rank, process, own);
}

void StoppedRanks::set_state(int local_rank, pid_t process, State state) {
    Seen& rank = seen_[static_cast<std::size_t>(local_rank)];
    if (rank.state != state) rank.beats = 0;
    rank.process = process;
    rank.state = state;
}

int StoppedRanks::count() const { return static_cast<int>(std::ranges::count_if(seen_, is_stopped, &Seen::state)); }

std::vector<StoppedRank> StoppedRanks::beat() {
    std::vector<StoppedRank> long_stopped;
    for (std::size_t local = 0; local < seen_.size(); ++local) {
        Seen& rank = seen_[local];
        if (is_stopped(rank.state) && ++rank.beats == beats_per_timeout + 1)
            long_stopped.push_back({first_ + static_cast<int>(local), rank.process, rank.state == State::traced});
    }
    return long_stopped;
}

std::string end_of(const StoppedRank& stopped, const Share& share, std::chrono::seconds timeout) {
    return fmt::format("{} was stopped and not continued for {} s (KUMIKI_TIMEOUT){}; with KUMIKI_STOPPED=wait the job "
                       "waits for it",
                       name_of(stopped.rank, stopped.process, share), timeout.count(),
                       share.size > 1 ? "; the other ranks were ended" : "");
}

std::string wait_for(const StoppedRank& stopped, const Share& share) {
    const auto who = name_of(stopped.rank, stopped.process, share);
    if (stopped.by_debugger) return fmt::format("{} is held by a debugger; the job waits for it", who);
    return fmt::format("{} is stopped; the job waits until it is continued (kill -CONT {})", who, stopped.process);
}

} // namespace kumiki::launch
