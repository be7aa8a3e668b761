#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "openmp/settings.hpp"
#include "platform/memory.hpp"
#include "wait/bell.hpp"

namespace kumiki::openmp {

struct Member;

/// A loop of the program. Inside, its iterations are numbered from 0, whatever their type and direction.
struct Loop {
    std::uint64_t first = 0; ///< value of the loop's variable in iteration 0
    std::uint64_t step = 1;  ///< may be negative, as two's complement
    std::uint64_t count = 0; ///< iterations
    Schedule schedule;
    bool ordered = false;

    /// A loop over long, or over unsigned long long in a given direction.
    static Loop over(long start, long end, long step, Schedule schedule);
    static Loop over(bool up, unsigned long long start, unsigned long long end, unsigned long long step,
                     Schedule schedule);
    std::uint64_t value(std::uint64_t iteration) const { return first + iteration * step; }
};

/// Iterations from `begin` to before `end`.
struct Chunk {
    std::uint64_t begin = 0, end = 0;
};

/// Where a thread is in its loop.
struct LoopPosition {
    std::uint64_t turns = 0;  ///< chunks that a thread of a static loop has had
    bool ended = false;       ///< its dynamic loop has no more chunks
    bool in_chunk = false;    ///< of an ordered loop
    Chunk chunk{};            ///< this one
    std::uint64_t number = 0; ///< of the loop, at all ranks (OtherRanks)
    bool in_turn = false;     ///< it is the chunk's turn in an ordered loop of several ranks
};

/// The state of a loop with doacross dependences (ordered(n)): how far each part of the outermost loop is.
struct Doacross {
    unsigned dimensions = 0;
    std::unique_ptr<std::uint64_t[]> counts;               ///< iterations of each dimension
    std::uint64_t part = 1;                                ///< outermost iterations of each entry of `reached`
    std::unique_ptr<std::atomic<std::uint64_t>[]> reached; ///< iterations of all dimensions, flat, that are done

    std::uint64_t flat(const std::uint64_t* iteration) const;
};

/// What the threads of a team share about one worksharing construct.
struct Workshare {
    alignas(platform::apart) std::atomic<std::uint64_t> state{0}; ///< Workshares
    Loop loop;
    std::unique_ptr<Doacross> doacross;
    std::unique_ptr<std::byte[]> memory; ///< that the construct shares
    std::uintptr_t* reductions = nullptr;
    std::atomic<bool> cancelled{false};
    alignas(platform::apart) std::atomic<std::uint64_t> next{0};    ///< iteration that no thread has yet
    alignas(platform::apart) std::atomic<std::uint64_t> ordered{0}; ///< iterations before this one are done, in order
    alignas(platform::apart) std::atomic<std::uint32_t> left{0};    ///< threads that have left the construct
};

/// The worksharing constructs of a team, of which several are open at once if they do not wait (nowait). They live in a
/// ring; a thread that is a whole ring ahead of another waits for it.
class Workshares {
public:
    /// The member's next construct. The first member to arrive prepares it by `prepare(share)`.
    template <class Prepare>
    Workshare& enter(Member& me, Prepare prepare);
    /// The member leaves its construct; the last one clears it.
    void leave(Member& me);
    /// After a region that was cancelled, in which members may have met different constructs.
    void reset();

private:
    static constexpr std::uint64_t length = 16;
    // The state of a share in its r-th use is 3 r + one of these.
    static constexpr std::uint64_t free = 0, in_preparation = 1, ready = 2, states = 3;

    void wait_until(Member& me, const Workshare& share, std::uint64_t state) const;
    void announce(Member& me, Workshare& share, std::uint64_t state) const;
    static void clear(Workshare& share);

    std::unique_ptr<std::array<Workshare, length>> ring_ = std::make_unique<std::array<Workshare, length>>();
};

/// Enters the member's next loop.
void enter_loop(Member& me, const Loop& loop);
void number_loop(Member& me, const Loop& loop);
/// The member's next chunk; false: its loop has ended.
bool next_chunk(Member& me, Chunk& chunk);
/// Leaves the loop, or another worksharing construct.
void leave_share(Member& me);

/// Waits until it is the turn of the member's chunk in an ordered loop.
void await_turn(Member& me);

/// Makes the loop one with doacross dependences.
void enter_doacross(Member& me, unsigned dimensions, const std::uint64_t* counts, Schedule schedule,
                    std::uintptr_t* reductions, void** memory);
void post(Member& me, const std::uint64_t* iteration);
void await_post(Member& me, const std::uint64_t* iteration);

} // namespace kumiki::openmp
