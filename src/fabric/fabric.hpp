#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "error/result.hpp"
#include "fabric/group.hpp"
#include "fabric/group_blocks.hpp"
#include "fabric/messenger.hpp"
#include "fabric/network/network.hpp"
#include "fabric/progress_hook.hpp"
#include "fabric/region_table.hpp"
#include "fabric/shm/segment.hpp"
#include "platform/copy.hpp"
#include "settings/settings.hpp"
#include "trace/trace.hpp"
#include "wait/wait.hpp"

namespace kumiki::fabric {

/// Whatever moves bytes between the ranks of the job. Ranks of one host map each other's memory, so that a put is a
/// copy and a signal is a store; those of other hosts are reached through network(). The budget of each path stands in
/// README.md.
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

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool crowded() const { return patience_.crowded; }
    /// Null when nobody wants one.
    trace::Trace* trace() const { return trace_.get(); }
    const wait::Patience& patience() const { return patience_; }
    RegionTable& regions() { return regions_; }
    Messenger& messenger() { return *messenger_; }
    /// Null when all ranks are on this host.
    Network* network() const { return network_.get(); }

    /// Tells the launcher that this rank goes in good order.
    void leave() { own().state.store(shm::RankState::left, std::memory_order_release); }

    bool has_rank(int rank) const { return rank >= 0 && rank < size_; }

    // -- the fast path: addresses --

    /// Where `bytes` at `own` (an address in a region of this rank) lie at rank `rank`; null when that is on another
    /// host (remote() says so), when there is no such rank, or when they are not inside one region: refusal() then says
    /// why. `bytes` is at least 1.
    std::byte* translate(int rank, const void* own, std::size_t bytes) const {
        const std::size_t offset = this->offset(own);
        if (!has_rank(rank) || !regions_.contains(offset, bytes)) [[unlikely]]
            return nullptr;
        std::byte* const there = arenas_[static_cast<std::size_t>(rank)];
        return there == nullptr ? nullptr : there + offset;
    }
    /// The same for an aligned 64-bit word, the only thing that signals and atomics work on.
    std::uint64_t* word(int rank, const std::uint64_t* own) const {
        if (reinterpret_cast<std::uintptr_t>(own) % sizeof(*own) != 0) [[unlikely]]
            return nullptr;
        return reinterpret_cast<std::uint64_t*>(translate(rank, own, sizeof(*own)));
    }
    /// Whether they are inside a region of a rank of another host: the network then takes their offset().
    bool remote(int rank, const void* own, std::size_t bytes) const {
        return is_remote(rank) && (bytes == 0 || in_region(own, bytes));
    }
    bool remote_word(int rank, const std::uint64_t* own) const {
        return is_remote(rank) && word(rank_, own) != nullptr;
    }
    bool is_remote(int rank) const { return has_rank(rank) && arenas_[static_cast<std::size_t>(rank)] == nullptr; }
    Failure refusal(std::string_view operation, int rank, const void* own, std::size_t bytes) const;

    /// The offset of own memory in the arena when all of it is inside one region; it is the same at all ranks.
    bool in_region(const void* own, std::size_t bytes) const { return translate(rank_, own, bytes) != nullptr; }
    std::size_t offset(const void* own) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(own) - arena_);
    }
    std::byte* own_arena() const { return arena_; }
    /// The word at `offset` in this rank's arena.
    std::atomic_ref<std::uint64_t> own_word(std::size_t offset) const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(arena_ + offset));
    }

    // -- the fast path: bytes --

    void copy(void* destination, const void* source, std::size_t bytes) const {
        if (bytes == sizeof(std::uint64_t))
            std::memcpy(destination, source, sizeof(std::uint64_t)); // one load, one store
        else if (bytes >= nontemporal_bytes_)
            platform::copy_around_caches(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source),
                                         bytes);
        else if (bytes >= platform::shortest_in_cache && bytes <= platform::longest_in_cache)
            platform::copy_in_cache(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source), bytes);
        else std::memcpy(destination, source, bytes);
    }

    /// The same for a part of something that is `whole` bytes long.
    void copy_part(std::byte* destination, const std::byte* source, std::size_t bytes, std::size_t whole) const {
        if (whole >= nontemporal_bytes_) platform::copy_around_caches(destination, source, bytes);
        else copy(destination, source, bytes);
    }

    /// After making something true that a thread of rank `rank` may wait for.
    void ring(int rank) const { wait::ring(block(rank).bell, patience_); }
    void ring_on_host(int local) const { wait::ring(host_block(local).bell, patience_); }

    /// Waits until ready(), which reads what other ranks write with acquire order; runs active messages meanwhile.
    template <class Ready>
    void wait(Ready ready) {
        wait(ready, [] {});
    }
    /// The same; calls doubt() once when it takes long.
    template <class Ready, class Doubt>
    void wait(Ready ready, Doubt doubt);

    /// One look of a wait, for a program that does not wait: sends what is held back, and receives.
    void look() {
        if (network_) {
            network_->release();
            network_->poll();
        }
        hooks_.run();
    }

    /// What threads do while they wait.
    ProgressHooks& progress_hooks() { return hooks_; }

    /// All ranks of the job: the first group.
    Group& everybody() const { return *everybody_; }
    GroupBlocks& group_blocks() { return group_blocks_; }
    /// A number that no other group of the job has or had.
    std::uint64_t new_group_id() {
        return static_cast<std::uint64_t>(rank_) << 32 | (groups_made_.fetch_add(1, std::memory_order_relaxed) + 1);
    }

    /// This rank's part, and that of rank `rank` of the same host, of what the ranks of a host share.
    shm::RankBlock& block(int rank) const { return *blocks_[static_cast<std::size_t>(rank)]; }
    shm::RankBlock& own() const { return *own_; }
    std::byte* arena(int rank) const { return arenas_[static_cast<std::size_t>(rank)]; }
    shm::Header& header() const { return segment_->header(); }

    // -- the ranks of this host, by their local numbers --

    int host_rank() const { return host_rank_; }
    int host_size() const { return host_size_; }
    /// The job's number of local rank `local`.
    int rank_on_host(int local) const {
        return network_ ? network_->hosts().rank_at(network_->hosts().own(), local) : local;
    }
    /// The other way round, for a rank of this host.
    int local_rank(int rank) const { return network_ ? network_->hosts().local_rank(rank) : rank; }
    shm::RankBlock& host_block(int local) const { return segment_->block(local); }
    std::byte* host_arena(int local) const { return segment_->arena(local); }
    shm::Channel& host_channel(int from, int to) const { return segment_->channel(from, to); }

    /// Makes a region usable after it was entered in the table: fails when the host has not the memory for all ranks'
    /// copies; pins it when the settings say so. Pages are placed where they are first touched.
    Result<> prepare(const Extent& extent) const;
    /// Gives its memory back.
    void discard(const Extent& extent) const;
    std::byte* address(const Extent& extent) const { return arena_ + extent.begin; }

private:
    Fabric(const Settings& settings, std::shared_ptr<const shm::Segment> segment);

    template <class Ready, class Doubt>
    void wait_for_network(Ready ready, Doubt doubt);
    /// One look of a thread that waits, at all that is not its own.
    void serve(bool attends) {
        hooks_.run();
        if (attends) messenger_->progress();
    }

    void map_ranks();
    void make_first_group();

    std::shared_ptr<const shm::Segment> segment_;
    int rank_, size_, host_rank_, host_size_;
    std::byte* arena_;    ///< this rank's
    shm::RankBlock* own_; ///< this rank's
    // By rank of the job; null on other hosts. What the segment could tell too, but a put should not have to ask.
    std::vector<shm::RankBlock*> blocks_;
    std::vector<std::byte*> arenas_;
    std::size_t nontemporal_bytes_;
    bool pin_;
    wait::Patience patience_;
    ProgressHooks hooks_;
    RegionTable regions_;
    std::unique_ptr<trace::Trace> trace_;
    std::unique_ptr<Messenger> messenger_;
    GroupBlocks group_blocks_;
    std::atomic<std::uint64_t> groups_made_{0};
    std::unique_ptr<Group> everybody_;
    std::unique_ptr<Network> network_; // its agent uses all of the above
};

template <class Ready, class Doubt>
void Fabric::wait(Ready ready, Doubt doubt) {
    if (ready()) return;
    if (network_) return wait_for_network(ready, doubt);
    const bool attends = messenger_->active();
    if (!attends && hooks_.empty()) return wait::wait(own().bell, patience_, ready, doubt);
    std::optional<Messenger::Attendance> attendance;
    if (attends) attendance.emplace(*messenger_);
    const auto look = [&] {
        if (ready()) return true;
        serve(attends);
        return ready();
    };
    wait::wait(own().bell, patience_, look, doubt);
}

/// While this thread is awake it receives, and it stays awake as long as there is something to receive; when it falls
/// asleep the agent does, and rings.
template <class Ready, class Doubt>
void Fabric::wait_for_network(Ready ready, Doubt doubt) {
    network_->release();
    const bool attends = messenger_->active();
    std::optional<Messenger::Attendance> attendance;
    if (attends) attendance.emplace(*messenger_);
    const auto look = [&] {
        serve(attends);
        return ready();
    };
    bool received = false;
    const auto receive = [&] {
        received = network_->poll() || received;
        return look();
    };
    do {
        received = false;
        if (wait::awake(wait::until_doubt(patience_), receive)) return;
        doubt();
    } while (received || !wait::sleeps(patience_));
    network_->hand_over();
    wait::wait(own().bell, wait::asleep(patience_), look);
    network_->take_back();
}

} // namespace kumiki::fabric
