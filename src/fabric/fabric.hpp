#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "error/result.hpp"
#include "fabric/failure_handler.hpp"
#include "fabric/group.hpp"
#include "fabric/group_blocks.hpp"
#include "fabric/host_memory.hpp"
#include "fabric/messenger.hpp"
#include "fabric/network/network.hpp"
#include "fabric/progress.hpp"
#include "fabric/shm/segment.hpp"
#include "settings/settings.hpp"
#include "trace/trace.hpp"

namespace kumiki::fabric {

/// Moves bytes between the ranks of the job. Ranks of one host map each other's memory(), so that a put is a copy and a
/// signal is a store; ranks on other hosts are reached through network(). Threads wait for other ranks in progress().
/// README.md states the budget of each path.
class Fabric {
public:
    /// Joins the job that the settings describe; without a launcher, forms a job of this process alone.
    static Result<std::unique_ptr<Fabric>> join(const Settings& settings);
    /// Joins as rank settings.rank of a segment that this process has mapped already. Several ranks may live in one
    /// process, as in the tests. Ranks on several hosts find each other through `wireup`.
    static Result<std::unique_ptr<Fabric>> join(const Settings& settings, std::shared_ptr<const shm::Segment> segment,
                                                const Wireup& wireup);
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    int rank() const { return memory_.rank(); }
    int size() const { return memory_.size(); }
    bool has_rank(int rank) const { return memory_.has_rank(rank); }

    HostMemory& memory() { return memory_; }
    const HostMemory& memory() const { return memory_; }
    Progress& progress() { return progress_; }
    const Progress& progress() const { return progress_; }
    Messenger& messenger() { return messenger_; }
    FailureHandler& failure_handler() { return failure_handler_; }
    /// Null when all ranks are on this host.
    Network* network() const { return network_.get(); }
    /// Null when tracing is off.
    trace::Trace* trace() const { return trace_.get(); }

    /// The group of all ranks of the job, which is the first group.
    Group& everybody() const { return *everybody_; }
    GroupBlocks& group_blocks() { return group_blocks_; }
    /// Returns a number that no other group of the job has, or ever had.
    std::uint64_t new_group_id() {
        return static_cast<std::uint64_t>(rank()) << 32 | (groups_made_.fetch_add(1, std::memory_order_relaxed) + 1);
    }

    /// Tells the launcher that this rank leaves the job regularly, rather than by a failure.
    void leave() { memory_.own().state.store(shm::RankState::left, std::memory_order_release); }
    bool has_left() const { return memory_.own().state.load(std::memory_order_acquire) == shm::RankState::left; }
    /// Tells it that this process, which ends, ends the job for all on purpose.
    void end_job() { memory_.own().state.store(shm::RankState::over, std::memory_order_release); }

private:
    Fabric(const Settings& settings, std::shared_ptr<const shm::Segment> segment);

    void map_ranks();
    void make_first_group();

    FailureHandler failure_handler_;
    HostMemory memory_;
    Messenger messenger_;
    Progress progress_;
    std::unique_ptr<trace::Trace> trace_;
    GroupBlocks group_blocks_;
    std::atomic<std::uint64_t> groups_made_{0};
    std::unique_ptr<Group> everybody_;
    std::unique_ptr<Network> network_; // declared last, because its agent uses all members above
};

} // namespace kumiki::fabric
