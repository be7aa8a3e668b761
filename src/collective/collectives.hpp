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
#include "kumiki/kumiki.h"

namespace kumiki::collective {

using fabric::shm::Board;
using fabric::shm::CollectiveCall;

/// What the ranks of a group do together. Called by one thread of every rank at a time, in the same order everywhere;
/// other groups may be in others meanwhile. Ranks are numbered as in the group. A call that
/// differs between ranks in kind, size, root, type or operation is a failure at all of them. After one in which only
/// some were in a barrier, every further collective fails too.
class Collectives {
public:
    explicit Collectives(fabric::Group& group)
        : fabric_(group.fabric()), group_(group), calls_(group), barrier_(group, calls_) {}

    const fabric::Group& group() const { return group_; }

    Result<> barrier();
    Result<> barrier_enter();
    Result<> barrier_wait();
    /// The job's last barrier. It ends a split-phase barrier that is still open, for others may wait in that.
    Result<> leave();

    // Of the job alone, for regions and handlers are the job's:

    /// A region at every rank, and its address here.
    Result<void*> allocate(std::size_t bytes);
    Result<> release(void* memory);

    /// Adds a handler of active messages at every rank.
    Result<int> add_handler(fabric::Messenger::Handler handler);

    Result<> broadcast(void* data, std::size_t bytes, int root);
    /// `root` = every_rank: all get the result.
    static constexpr int every_rank = std::numeric_limits<int>::min();
    Result<> reduce(const void* input, void* output, std::size_t count, kumiki_type type, kumiki_operation operation,
                    int root);

    /// The pieces of an all-to-all: for each rank how much, and where it begins. Bytes.
    struct Pieces {
        std::function<std::size_t(int rank)> bytes, offset;
        bool are_equal = false; ///< all have one length, and lie one after another

        static Pieces equal(std::size_t bytes);
    };
    Result<> all_to_all(const void* input, const Pieces& sent, void* output, const Pieces& received);

    /// `bytes` of every rank to all; all know all lengths. The input may lie at its place in the output.
    Result<> all_gather(const void* input, std::size_t bytes, void* output, const Pieces& received);
    /// `bytes` of every rank to the root, which knows all lengths; `output` and `received` are of use at the root
    /// alone.
    Result<> gather(const void* input, std::size_t bytes, void* output, const Pieces& received, int root);
    /// The other way round.
    Result<> scatter(const void* input, const Pieces& sent, void* output, std::size_t bytes, int root);
    /// To each rank what the ranks up to it have together.
    Result<> scan(const void* input, void* output, std::size_t count, kumiki_type type, kumiki_operation operation);
    /// Combines all inputs, and gives each rank its piece of the result, one after another; all know all counts of
    /// elements. Input and output lie apart.
    using Counts = std::function<std::size_t(int rank)>;
    Result<> reduce_scatter(const void* input, void* output, const Counts& counts, kumiki_type type,
                            kumiki_operation operation);

    /// A group of the ranks that give the same colour, in the order of their keys and then of their numbers here; null
    /// at a rank whose colour is negative.
    Result<std::unique_ptr<fabric::Group>> split(int colour, int key);
    /// The group of these ranks, in their order; all of them give the same. Null at a rank that is not among those that
    /// it gives.
    Result<std::unique_ptr<fabric::Group>> subgroup(std::span<const int> ranks);

    /// In place of a call whose arguments are wrong at this rank: tells the others, who would wait in vain, and returns
    /// the failure.
    Result<> refuse(const Result<>& failure);

private:
    enum class Kind : std::uint32_t {
        agreement,
        refused,
        allocate,
        release,
        add_handler,
        broadcast,
        reduce,
        all_to_all,
        all_gather,
        gather,
        scatter,
        scan,
        reduce_scatter
    };
    static const char* name(Kind kind);

    /// Lets one thread in at a time; a second one is told so.
    class CallGuard {
    public:
        explicit CallGuard(Collectives& collectives);
        ~CallGuard();
        CallGuard(const CallGuard&) = delete;
        CallGuard& operator=(const CallGuard&) = delete;
        /// A failure when another thread is in a collective, or a split-phase barrier is open.
        Result<> admitted() const;

    private:
        Collectives& collectives_;
        bool alone_;
    };

    /// Publishes the call with up to Board::capacity bytes, meets all ranks, and compares. Afterwards the boards can be
    /// read, until the call after next. All collectives begin so, or with exchange() itself: whatever the ranks call,
    /// they meet here and see the difference.
    Result<> announce(const CollectiveCall& call, std::span<const std::byte> data,
                      std::uint64_t offset = Board::nowhere);
    Result<> compare(const CollectiveCall& call);
    /// Whether every rank of the host has a line for every other one; the same answer at all of them.
    bool has_lines() const {
        return !fabric_.progress().crowded() && group_.host_size() <= fabric::shm::most_contributors;
    }
    /// Each rank of the host writes the call and up to Contribution::capacity bytes into every other one's lines, one
    /// hop, data and signal in one cache line; receive(local, payload) sees what each has written, in the order of
    /// ranks: so results have the same bits everywhere.
    template <class Receive>
    Result<> exchange(const CollectiveCall& call, std::span<const std::byte> own, Receive receive);

    // -- among the ranks of this host, over the boards (on_boards.cpp) --

    using Lengths = std::function<std::size_t(int local)>;
    using Places = std::function<std::byte*(int local)>;
    using Sources = std::function<const std::byte*(int local)>;
    /// Publishes more data of the call under way to the ranks of this host, or where they are in the own arena.
    void publish(std::span<const std::byte> data, std::uint64_t offset = Board::nowhere);
    /// From local rank `root` to the ranks of this host.
    void spread(std::span<std::byte> data, int root);
    /// From all ranks of this host, to the places that this rank has for them; to none when there are no places.
    void collect(std::span<const std::byte> own, const Lengths& length, const Places& place);
    /// From local rank `root` to each what is its own; `source` is of use at the root alone.
    void deal(int root, const Lengths& length, const Sources& source, std::byte* into);
    /// As many bytes as a board can have of such elements.
    static std::size_t whole_elements(std::size_t element) { return Board::capacity / element * element; }

    // -- over several hosts (over_hosts.cpp): what the ranks of each host have done among themselves, their leaders do
    // for the hosts --

    /// Combines what this rank's and the other hosts have, in place: `into` is what the ranks of this host have
    /// together.
    using Combine = std::function<void(std::byte* into, const std::byte* other)>;
    /// Compares the call with those of other hosts and combines up to Contribution::capacity bytes; with one host,
    /// nothing to do. `here` is whether the ranks of this host agree.
    Result<> over_hosts(const CollectiveCall& call, const Result<>& here, std::span<std::byte> payload,
                        const Combine& combine);
    /// A contribution of each host's leader, by host; none when other hosts are in another collective.
    std::vector<std::byte> gather_hosts(std::span<const std::byte> own);
    /// From the leader of host `root` to all leaders.
    void broadcast_hosts(std::span<std::byte> data, int root);
    /// Over all hosts, at the leaders.
    void reduce_hosts(std::span<std::byte> data, kumiki_type type, kumiki_operation operation);
    /// After the announcement: from rank `root` to all.
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
    Result<> agree_that(const Result<>& local);
    Failure difference(int other, const CollectiveCall& theirs, const CollectiveCall& mine) const;
    /// The same of a rank of this host, which is remembered for the other hosts.
    Result<> differs(int other, const CollectiveCall& theirs, const CollectiveCall& mine);

    // -- pieces (pieces.cpp) --

    bool moves_something(const Pieces& pieces) const;
    std::size_t bytes_of_all(const Pieces& pieces) const;
    std::uint32_t table_of(const Pieces& pieces) const;
    Result<> no_such_root(const char* operation, int root) const;
    /// Of a gather or scatter: `own` are the `bytes` of this rank, `whole` is where all pieces are at the root.
    Result<> check_pieces(Kind kind, const void* own, std::size_t bytes, const void* whole, const Pieces& at_root,
                          int root) const;
    /// Announces a gather or scatter; the lengths of all pieces, for every rank.
    Result<Pieces> agree_on_pieces(Kind kind, const Pieces& at_root, std::size_t own, int root);
    /// The pieces of a host's ranks, one after another: how long together, where each begins on this host, made and
    /// taken apart.
    std::size_t bytes_of_host(int host, const Pieces& pieces) const;
    std::vector<std::size_t> begins_on_host(const Pieces& pieces) const;
    std::vector<std::byte> pack_for_host(int host, const std::byte* from, const Pieces& pieces) const;
    void unpack_from_host(int host, std::span<const std::byte> block, std::byte* into, const Pieces& pieces) const;
    /// The same to the ranks of this host, each its own.
    void deal_block(std::span<const std::byte> block, int root, const Pieces& pieces, std::byte* into);

    // -- parts of the algorithms, each in its file --

    Result<> all_gather_inside(std::span<const std::byte> own, std::byte* into, const Pieces& received);
    Result<> all_gather_short(const CollectiveCall& call, std::span<const std::byte> own, std::byte* into,
                              const Pieces& received);
    void all_gather_hosts(std::byte* into, const Pieces& received);
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
    Result<std::unique_ptr<fabric::Group>> make_group(Wish own);

    struct PieceNote {
        std::uint64_t offset, bytes;
    };
    Result<std::size_t> compare_pieces(const Pieces& received, bool direct);
    void pull_staged(const std::byte* input, const Pieces& sent, std::byte* output, const Pieces& received,
                     std::size_t rounds, std::span<const char> in_region);

    /// What local rank `local` published last.
    const Board::Notice& notice(int local) const { return group_.block(local).board.notice[turn_]; }
    std::byte* published(int local) const { return group_.block(local).board.data[turn_].data(); }

    fabric::Fabric& fabric_;
    fabric::Group& group_;
    CallLog calls_;
    RankBarrier barrier_;
    struct Odd {
        std::int32_t rank;
        CollectiveCall call;
    } odd_{};                     ///< a rank of this host that called another collective than this one
    std::size_t turn_ = 0;        ///< which of the two boards is in use
    std::uint64_t exchanges_ = 0; ///< so far
    std::uint64_t tag_ = 0;       ///< of the last message between hosts; counts alike at every rank
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
        // The reader of what stood here two exchanges ago has contributed to the last one since, so it has read it.
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
