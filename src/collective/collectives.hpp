#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "collective/rank_barrier.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "kumiki/kumiki.h"

namespace kumiki::collective {

using fabric::shm::Board;
using fabric::shm::CollectiveCall;

/// What the ranks do together. Called by one thread of every rank at a time, in the same order everywhere; a call that differs between ranks
/// in kind, size, root, type or operation is a failure at all of them.
class Collectives {
public:
    explicit Collectives(fabric::Fabric& fabric) : fabric_(fabric), barrier_(fabric) {}

    Result<> barrier();
    Result<> barrier_enter();
    Result<> barrier_wait();
    /// The job's last barrier. It ends a split-phase barrier that is still open, for others may wait in that.
    Result<> leave();

    /// A region at every rank, and its address here.
    Result<void*> allocate(std::size_t bytes);
    Result<> release(void* memory);

    /// Adds a handler of active messages at every rank.
    Result<int> add_handler(fabric::Messenger::Handler handler);

    Result<> broadcast(void* data, std::size_t bytes, int root);
    /// `root` = every_rank: all get the result.
    static constexpr int every_rank = std::numeric_limits<int>::min();
    Result<> reduce(const void* input, void* output, std::size_t count, kumiki_type type, kumiki_operation operation, int root);

    /// The pieces of an all-to-all: for each rank how much, and where it begins. Bytes.
    struct Pieces {
        std::function<std::size_t(int rank)> bytes, offset;
    };
    Result<> all_to_all(const void* input, const Pieces& sent, void* output, const Pieces& received);

    /// In place of a call whose arguments are wrong at this rank: tells the others, who would wait in vain, and returns the failure.
    Result<> refuse(const Result<>& failure);

private:
    enum class Kind : std::uint32_t { agreement, refused, allocate, release, add_handler, broadcast, reduce, all_to_all };
    static const char* name(Kind kind);

    /// Lets one thread in at a time; a second one is told so.
    class Turn {
    public:
        explicit Turn(Collectives& collectives);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        /// A failure when another thread is in a collective, or a split-phase barrier is open.
        Result<> granted() const;

    private:
        Collectives& collectives_;
        bool alone_;
    };

    /// Publishes the call with up to Board::capacity bytes, meets all ranks, and compares. Afterwards the boards can be read, until the
    /// call after next.
    Result<> announce(const CollectiveCall& call, std::span<const std::byte> data, std::uint64_t offset = Board::nowhere);
    /// Publishes more data of the call under way.
    void publish(std::span<const std::byte> data);

    Result<> reduce_small(const CollectiveCall& call, const void* input, void* output, std::size_t count, kumiki_type type,
                          kumiki_operation operation, int root);
    void reduce_chunk(void* output, std::size_t count, kumiki_type type, kumiki_operation operation, int root);
    Result<> check_reduction(const void* input, const void* output, std::size_t count, kumiki_type type, kumiki_operation operation,
                             int root) const;
    Result<> largest(std::span<std::uint64_t> values);
    Result<> agree_that(const Result<>& local);
    Failure difference(int other, const CollectiveCall& theirs, const CollectiveCall& mine) const;

    struct PieceNote {
        std::uint64_t offset, bytes;
    };
    Result<std::size_t> compare_pieces(const Pieces& received, bool direct);
    void pull_staged(const std::byte* input, const Pieces& sent, std::byte* output, const Pieces& received, std::size_t rounds,
                     std::span<const char> in_region);

    /// What `rank` published last.
    const Board::Notice& notice(int rank) const { return fabric_.block(rank).board.notice[turn_]; }
    std::byte* published(int rank) const { return fabric_.block(rank).board.data[turn_].data(); }

    fabric::Fabric& fabric_;
    RankBarrier barrier_;
    std::size_t turn_ = 0;            ///< which of the two boards is in use
    std::uint64_t contributions_ = 0; ///< small collectives so far
    std::atomic<bool> in_use_{false};
};

} // namespace kumiki::collective
