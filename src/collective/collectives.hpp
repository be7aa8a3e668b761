#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/call_log.hpp"
#include "collective/rank_barrier.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "kumiki/types.h"

namespace kumiki::collective {

using fabric::shm::Board;
using fabric::shm::CollectiveCall;

/// The collective operations of a group. One thread of every rank calls them at a time, in the same order at every
/// rank; other groups may be in their own collectives meanwhile. Ranks are numbered as in the group. If a call differs
/// between ranks in kind, size, root, type or operation, it fails at all of them. After a call in which only some ranks
/// were in a barrier, every further collective fails, too.
class Collectives {
public:
    explicit Collectives(fabric::Group& group)
        : fabric_(group.fabric()), group_(group), calls_(group), barrier_(group, calls_) {}

    const fabric::Group& group() const { return group_; }

    Result<> barrier();
    Result<> barrier_enter();
    Result<> barrier_wait();
    /// Called before this rank leaves the job: other ranks may be waiting in a split-phase barrier that is still open.
    Result<> end_open_barrier();
    /// The job's last barrier, after the end of an open one.
    Result<> leave();

    // These are called for the job only, to which regions and handlers belong:

    static constexpr std::uint64_t all_of_them = ~std::uint64_t{0};
    /// Makes a region at every rank; returns its address at this rank. `needed`: for how many of the bytes this rank
    /// will need memory, at most; as much must be there.
    Result<void*> allocate(std::size_t bytes, std::uint64_t needed = all_of_them);
    Result<> release(void* memory);

    /// Adds a handler of active messages at every rank.
    Result<int> add_handler(fabric::Messenger::Handler handler);

    Result<> broadcast(void* data, std::size_t bytes, int root);
    /// As `root`: all ranks get the result.
    static constexpr int every_rank = std::numeric_limits<int>::min();
    Result<> reduce(const void* input, void* output, std::size_t count, kumiki_type type, kumiki_operation operation,
                    int root);

    /// The pieces of an all-to-all: the length and the offset of each rank's piece, in bytes.
    struct Pieces {
        std::function<std::size_t(int rank)> bytes, offset;
        bool are_equal = false; ///< all pieces have the same length and follow each other without gaps

        static Pieces equal(std::size_t bytes);
    };
    Result<> all_to_all(const void* input, const Pieces& sent, void* output, const Pieces& received);

    /// Sends `bytes` of every rank to all ranks; all ranks know all lengths. The input may already be at its place in
    /// the output.
    Result<> all_gather(const void* input, std::size_t bytes, void* output, const Pieces& received);
    /// What the ranks have given to all_collect(), by rank.
    class Collected {
    public:
        std::span<const std::byte> of(int rank) const {
            const auto at = static_cast<std::size_t>(rank);
            return std::span(bytes_).subspan(begins_[at], static_cast<std::size_t>(lengths_[at]));
        }

    private:
        friend class Collectives;
        void add(int rank, std::uint64_t length, const std::byte* beginning, std::size_t bytes) {
            lengths_[static_cast<std::size_t>(rank)] = length;
            begins_[static_cast<std::size_t>(rank)] = bytes_.size();
            bytes_.insert(bytes_.end(), beginning, beginning + bytes);
        }
        std::vector<std::uint64_t> lengths_;
        std::vector<std::size_t> begins_;
        std::vector<std::byte> bytes_;
    };
    /// So many bytes of each rank travel in one meeting.
    static constexpr std::size_t collected_at_once = std::size_t{4} << 10;
    /// Like all_gather(), but only the owner of a piece knows its length.
    Result<> all_collect(std::span<const std::byte> own, Collected& all);
    /// Sends `bytes` of every rank to the root, which knows all lengths; `output` and `received` are used at the root
    /// only.
    Result<> gather(const void* input, std::size_t bytes, void* output, const Pieces& received, int root);
    /// The reverse: sends a piece of the root's input to each rank.
    Result<> scatter(const void* input, const Pieces& sent, void* output, std::size_t bytes, int root);
    /// Gives each rank the combined values of all ranks up to and including itself.
    Result<> scan(const void* input, void* output, std::size_t count, kumiki_type type, kumiki_operation operation);
    /// Combines all inputs, and gives each rank its piece of the result, in the order of ranks; all ranks know all
    /// counts (of elements). Input and output must not overlap.
    using Counts = std::function<std::size_t(int rank)>;
    Result<> reduce_scatter(const void* input, void* output, const Counts& counts, kumiki_type type,
                            kumiki_operation operation);

    /// Makes a group of the ranks that pass the same colour, in the order of their keys and then of their numbers here;
    /// null at a rank whose colour is negative.
    Result<std::unique_ptr<fabric::Group>> split(int colour, int key);
    /// Makes a group of these ranks, in this order; all of them pass the same list. Null at a rank that is not in the
    /// list that it passes.
    Result<std::unique_ptr<fabric::Group>> subgroup(std::span<const int> ranks);

    /// Fails if a collective would fail at once: another thread is in one, or a split-phase barrier is open.
    Result<> admitted() { return CallGuard(*this).admitted(); }
    /// Fails if another thread is in a collective.
    Result<> alone() { return CallGuard(*this).alone(); }

    /// Called instead of a collective whose arguments are wrong at this rank: tells the other ranks, which would
    /// otherwise wait forever, and returns the failure. If the collective would not have been admitted, the other ranks
    /// do not wait for it, and that is the failure.
    Result<> refuse(const Result<>& failure);
    Result<> no_such_root(const char* operation, int root) const;

private:
    enum class Kind : std::uint32_t {
        agreement,
        refused,
        allocate,
        release,
        add_handler,
        broadcast,
        reduce,
        all_reduce,
        all_to_all,
        all_gather,
        all_collect,
        gather,
        scatter,
        scan,
        reduce_scatter,
        group_split,
        group_create
    };
    static const char* name(Kind kind);

    /// Admits one thread at a time; a second one gets a failure.
    class CallGuard {
    public:
        explicit CallGuard(Collectives& collectives);
        ~CallGuard();
        CallGuard(const CallGuard&) = delete;
        CallGuard& operator=(const CallGuard&) = delete;
        Result<> admitted() const;
        Result<> alone() const;

    private:
        Collectives& collectives_;
        bool alone_;
    };

    Failure two_threads() const;
    /// refuse() within a collective.
    Result<> refuse_inside(const Result<>& failure);
    /// Publishes the call with up to Board::capacity bytes, synchronizes all ranks, and compares their calls.
    /// Afterwards the boards can be read until the call after next. All collectives begin with this function or with
    /// exchange(): whatever the ranks call, they meet here and detect a difference.
    Result<> announce(const CollectiveCall& call, std::span<const std::byte> data,
                      std::uint64_t offset = Board::nowhere);
    Result<> compare(const CollectiveCall& call);
    /// Whether every rank of the host has a line for every other one; all of them get the same answer.
    bool has_lines() const {
        return !fabric_.progress().crowded() && group_.host_size() <= fabric::shm::most_contributors;
    }
    /// Each rank of the host writes the call and up to Contribution::capacity bytes into a line of every other rank:
    /// one hop, with data and signal in one cache line. receive(local, payload) gets the data of each rank, in the
    /// order of ranks, so the results have the same bits everywhere.
    template <class Receive>
    Result<> exchange(const CollectiveCall& call, std::span<const std::byte> own, Receive receive);

    // -- among the ranks of this host, over the boards (on_boards.cpp) --

    using Lengths = std::function<std::size_t(int local)>;
    using Places = std::function<std::byte*(int local)>;
    using Sources = std::function<const std::byte*(int local)>;
    /// Publishes more data of the present call to the ranks of this host, or the offset of these data in the arena of
    /// this rank.
    void publish(std::span<const std::byte> data, std::uint64_t offset = Board::nowhere);
    /// Sends data from local rank `root` to all ranks of this host.
    void spread(std::span<std::byte> data, int root);
    /// Collects data from all ranks of this host, in the places that this rank provides; if it provides none, it only
    /// takes part.
    void collect(std::span<const std::byte> own, const Lengths& length, const Places& place);
    /// Sends from local rank `root` to each rank its own piece; `source` is used at the root only.
    void deal(int root, const Lengths& length, const Sources& source, std::byte* into);
    /// The number of bytes of whole elements that fit on a board.
    static std::size_t whole_elements(std::size_t element) { return Board::capacity / element * element; }

    // -- over several hosts (over_hosts.cpp): the leaders continue between the hosts what the ranks of each host have
    // begun among themselves --

    /// Combines values of this host and of another one, in place: `into` holds the combined value of this host's ranks.
    using Combine = std::function<void(std::byte* into, const std::byte* other)>;
    /// Compares the call with those of the other hosts and combines up to Contribution::capacity bytes; does nothing if
    /// there is one host. `here` says whether the ranks of this host agree.
    Result<> over_hosts(const CollectiveCall& call, const Result<>& here, std::span<std::byte> payload,
                        const Combine& combine);
    /// Returns a contribution of each host's leader, in the order of hosts; empty if other hosts are in another
    /// collective.
    std::vector<std::byte> gather_hosts(std::span<const std::byte> own);
    /// Sends data from the leader of host `root` to all leaders.
    void broadcast_hosts(std::span<std::byte> data, int root);
    /// Combines the leaders' data over all hosts.
    void reduce_hosts(std::span<std::byte> data, kumiki_type type, kumiki_operation operation);
    /// Sends data from rank `root` to all ranks; called after the announcement.
    void broadcast_inside(std::span<std::byte> data, int root);
    Result<> reduce_over_hosts(const void* input, void* output, std::size_t count, kumiki_type type,
                               kumiki_operation operation);
    Result<> all_to_all_over_hosts(const std::byte* input, const Pieces& sent, std::byte* output,
                                   const Pieces& received);
    bool one_host() const { return group_.on_one_host(); }

    Result<> combine_small(const CollectiveCall& call, std::span<const std::byte> own, std::byte* result,
                           const Combine& combine);
    Result<> reduce_small(const CollectiveCall& call, const void* input, void* output, std::size_t count,
                          kumiki_type type, kumiki_operation operation, int root);
    void reduce_chunk(void* output, std::size_t count, kumiki_type type, kumiki_operation operation, bool wants_result);
    Result<> check_reduction(const char* name, const void* input, const void* output, std::size_t count,
                             kumiki_type type, kumiki_operation operation, int root) const;
    Result<> largest(std::span<std::uint64_t> values);
    /// Whether all ranks have done their part; if another rank has not, this one returns the failure `elsewhere`.
    Result<> agree_that(const Result<>& local,
                        const Failure& elsewhere = {KUMIKI_ERROR_MEMORY, "another rank could not do its part; its own "
                                                                         "message says why"});
    Failure difference(int other, const CollectiveCall& theirs, const CollectiveCall& mine) const;
    /// The same about a rank of this host; the difference is also kept for the other hosts.
    Result<> differs(int other, const CollectiveCall& theirs, const CollectiveCall& mine);

    // -- pieces (pieces.cpp) --

    bool moves_something(const Pieces& pieces) const;
    std::size_t bytes_of_all(const Pieces& pieces) const;
    std::uint32_t table_of(const Pieces& pieces) const;
    /// The failure at the ranks whose own sizes are as expected.
    static Failure sizes_differ_elsewhere(Kind kind);
    /// Checks the arguments of a gather or scatter: `own` are the `bytes` of this rank, and `whole` holds all pieces at
    /// the root.
    Result<> check_pieces(Kind kind, const void* own, std::size_t bytes, const void* whole, const Pieces& at_root,
                          int root) const;
    /// Announces a gather or scatter, and returns the lengths of all pieces at every rank.
    Result<Pieces> agree_on_pieces(Kind kind, const Pieces& at_root, std::size_t own, int root);
    /// The pieces of a host's ranks, packed one after another: their total length, the offset of each on this host, and
    /// how they are packed and unpacked.
    std::size_t bytes_of_host(int host, const Pieces& pieces) const;
    std::vector<std::size_t> begins_on_host(const Pieces& pieces) const;
    std::vector<std::byte> pack_for_host(int host, const std::byte* from, const Pieces& pieces) const;
    void unpack_from_host(int host, std::span<const std::byte> block, std::byte* into, const Pieces& pieces) const;
    /// Sends such pieces to the ranks of this host, to each its own.
    void deal_block(std::span<const std::byte> block, int root, const Pieces& pieces, std::byte* into);

    // -- parts of the algorithms, each in its own file --

    Result<> all_gather_inside(Kind kind, std::span<const std::byte> own, std::byte* into, const Pieces& received);
    Result<> all_gather_short(const CollectiveCall& call, std::span<const std::byte> own, std::byte* into,
                              const Pieces& received);
    void all_gather_hosts(std::byte* into, const Pieces& received);
    Result<> collect_over_hosts(const CollectiveCall& call, const Result<>& here, Collected& all);
    Result<> collect_rest(std::span<const std::byte> own, Collected& all);
    std::vector<std::byte> host_part(const CollectiveCall& call, const Result<>& here) const;
    std::vector<std::byte> gather_parts(std::vector<std::byte> own);
    Result<> scan_short(const CollectiveCall& call, std::span<const std::byte> own, std::span<std::byte> result,
                        kumiki_type type, kumiki_operation operation);
    void scan_chunk(std::span<std::byte> result, kumiki_type type, kumiki_operation operation);
    void scan_runs(std::span<std::byte> result, kumiki_type type, kumiki_operation operation);
    std::vector<std::byte> scan_before(const std::vector<int>& last, int run, std::span<const std::byte> own,
                                       kumiki_type type, kumiki_operation operation);
    void reduce_scatter_here(const std::byte* from, std::byte* into, const Pieces& pieces, kumiki_type type,
                             kumiki_operation operation);
    void reduce_scatter_hosts(std::span<const std::byte> input, std::byte* into, const Pieces& pieces, kumiki_type type,
                              kumiki_operation operation);
    struct Wish;
    Result<std::unique_ptr<fabric::Group>> make_group(Kind kind, Wish own);

    struct PieceNote {
        std::uint64_t offset, bytes;
    };
    Result<std::size_t> compare_pieces(const Pieces& received, bool direct);
    void pull_staged(const std::byte* input, const Pieces& sent, std::byte* output, const Pieces& received,
                     std::size_t rounds, std::span<const char> in_region);

    /// The latest notice that local rank `local` has published.
    const Board::Notice& notice(int local) const { return group_.block(local).board.notice[turn_]; }
    std::byte* published(int local) const { return group_.block(local).board.data[turn_].data(); }

    fabric::Fabric& fabric_;
    fabric::Group& group_;
    CallLog calls_;
    RankBarrier barrier_;
    struct Odd {
        std::int32_t rank;
        CollectiveCall call;
    } odd_{};                     ///< a rank of this host that called a different collective
    std::size_t turn_ = 0;        ///< which of the two boards is in use
    std::uint64_t exchanges_ = 0; ///< the number of exchanges so far
    std::uint64_t tag_ = 0;       ///< of the latest message between hosts; the same at every rank
    std::atomic<bool> in_use_{false};
};

template <class Receive>
Result<> Collectives::exchange(const CollectiveCall& call, std::span<const std::byte> own, Receive receive) {
    const std::uint64_t epoch = ++exchanges_;
    const auto line = [&](int at, int from) -> fabric::shm::Contribution& {
        return group_.block(at).contributions[epoch % 2][static_cast<std::size_t>(from)];
    };
    const int here = group_.host_rank();
    for (int local = 0; local < group_.host_size(); ++local) {
        if (local == here) continue;
        // The rank that read the previous contents of this line, two exchanges ago, has since contributed to the latest
        // exchange, so it has finished reading.
        fabric::shm::Contribution& there = line(local, here);
        there.call = call;
        if (!own.empty()) std::memcpy(there.payload.data(), own.data(), own.size());
        there.epoch.store(epoch, std::memory_order_release);
        group_.ring(local);
    }
    Result<> outcome;
    for (int local = 0; local < group_.host_size(); ++local) {
        const std::byte* payload = own.data();
        if (local != here) {
            const fabric::shm::Contribution& theirs = line(here, local);
            if (!calls_.wait([&] { return theirs.epoch.load(std::memory_order_acquire) >= epoch; }))
                return tl::unexpected(calls_.difference());
            if (theirs.call != call && outcome) outcome = differs(group_.number_on_host(local), theirs.call, call);
            payload = theirs.payload.data();
        }
        receive(local, payload);
    }
    return outcome;
}

} // namespace kumiki::collective
