#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "error/result.hpp"
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

/// Whatever moves bytes between the ranks of the job. Ranks of one host map each other's memory(), so that a put is a
/// copy and a signal is a store; those of other hosts are reached through network(). Threads wait for any of them in
/// progress(). The budget of each path stands in README.md.
class Fabric {
public:
    /// Joins the job that the settings describe; without a launcher, makes a job of this process alone.
    static Result<std::unique_ptr<Fabric>> join(const Settings& settings);
    /// Joins as rank settings.rank of a segment that is mapped here already; several ranks may live in one process (the
    /// tests do that).
    /// `wireup` is how the ranks of several hosts find each other.
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
    /// Null when all ranks are on this host.
    Network* network() const { return network_.get(); }
    /// Null when nobody wants one.
    trace::Trace* trace() const { return trace_.get(); }

    /// All ranks of the job: the first group.
    Group& everybody() const { return *everybody_; }
    GroupBlocks& group_blocks() { return group_blocks_; }
    /// A number that no other group of the job has or had.
    std::uint64_t new_group_id() {
        return static_cast<std::uint64_t>(rank()) << 32 | (groups_made_.fetch_add(1, std::memory_order_relaxed) + 1);
    }

    /// Tells the launcher that this rank goes in good order.
    void leave() { memory_.own().state.store(shm::RankState::left, std::memory_order_release); }

private:
    Fabric(const Settings& settings, std::shared_ptr<const shm::Segment> segment);

    void map_ranks();
    void make_first_group();

    HostMemory memory_;
    Messenger messenger_;
    Progress progress_;
    std::unique_ptr<trace::Trace> trace_;
    GroupBlocks group_blocks_;
    std::atomic<std::uint64_t> groups_made_{0};
    std::unique_ptr<Group> everybody_;
    std::unique_ptr<Network> network_; // its agent uses all of the above
};

} // namespace kumiki::fabric
