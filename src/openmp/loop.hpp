#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "openmp/doacross.hpp"
#include "openmp/settings.hpp"
#include "platform/memory.hpp"
#include "wait/bell.hpp"

namespace kumiki::openmp {

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
    /// The sections 1 to `count`: iterations that go to threads one by one, and rise in each thread, as they do in
    /// other runtimes.
    static Loop sections(unsigned count);
    std::uint64_t value(std::uint64_t iteration) const { return first + iteration * step; }
};

/// Iterations from `begin` to before `end`.
struct Chunk {
    std::uint64_t begin = 0, end = 0;
};

/// The parts of a loop's iterations that the ranks have, each of which its rank's threads take before those of other
/// parts. A part need not be one run of iterations.
class LoopParts {
public:
    LoopParts() = default;
    explicit LoopParts(int ranks) : runs_(static_cast<std::size_t>(ranks)) {}

    bool empty() const { return runs_.empty(); }
    int ranks() const { return static_cast<int>(runs_.size()); }
    /// Gives a rank more iterations, behind all that have been given to any.
    void add(int rank, Chunk iterations);
    /// The iterations of a rank's part.
    std::uint64_t length(int rank) const;
    /// Those of them from the `begin`-th on, at most `most`, that follow each other.
    Chunk from(int rank, std::uint64_t begin, std::uint64_t most) const;

private:
    struct Run {
        std::uint64_t before; ///< iterations of the part in the runs before
        Chunk iterations;
    };
    std::vector<std::vector<Run>> runs_; ///< by rank
};

/// Where a thread is in its loop.
struct LoopPosition {
    std::uint64_t turns = 0;  ///< chunks that a thread of a static loop has had
    bool ended = false;       ///< its dynamic loop has no more chunks
    bool in_chunk = false;    ///< of an ordered loop
    Chunk chunk{};            ///< this one
    std::uint64_t number = 0; ///< of the loop, at all ranks (OtherRanks)
    int parts_done = 0;       ///< parts of ranks that have no iterations left, its own rank's first
    Chunk last{};             ///< with the loop's last iteration, to be executed after all others
    std::uint64_t taken = 0;  ///< of its share of a part, in a static loop
    bool in_turn = false;     ///< it is the chunk's turn in an ordered loop of several ranks
};

/// What the threads of a team share about one worksharing construct.
struct Workshare {
    alignas(platform::apart) std::atomic<std::uint64_t> state{0}; ///< Workshares
    Loop loop;
    LoopParts parts; ///< only of a loop of several ranks
    std::unique_ptr<Doacross> doacross;
    std::unique_ptr<std::byte[]> memory; ///< that the construct shares
    std::unique_ptr<SharedWords> words;  ///< in the place of `memory`, with threads at several ranks
    void* copies = nullptr;              ///< of variables that tasks reduce
    std::atomic<bool> cancelled{false};
    bool of_one_thread = false;                                     ///< it is in no ring
    alignas(platform::apart) std::atomic<std::uint64_t> next{0};    ///< iteration that no thread has yet
    alignas(platform::apart) std::atomic<std::uint64_t> ordered{0}; ///< iterations before this one are done, in order
    alignas(platform::apart) std::atomic<std::uint32_t> left{0};    ///< threads that have left the construct
};

/// The worksharing constructs of a team, of which several are open at once if they do not wait (nowait). They live in a
/// ring; a thread that is a whole ring ahead of another waits for it. In a region that is cancelled that other one may
/// never come; then the thread gets a construct of its own, which has no iterations because the region is cancelled.
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

    /// False: the region is cancelled, and the share has not come to this state.
    bool wait_until(Member& me, const Workshare& share, std::uint64_t state) const;
    /// A construct of the member alone; leave() frees it.
    template <class Prepare>
    Workshare& enter_alone(Member& me, Prepare prepare);
    void announce(Member& me, Workshare& share, std::uint64_t state) const;
    static void clear(Workshare& share);

    std::unique_ptr<std::array<Workshare, length>> ring_ = std::make_unique<std::array<Workshare, length>>();
};

/// Enters the member's next loop.
void enter_loop(Member& me, const Loop& loop);
/// What both kinds of entries do: describe the loop to the other members, and begin it.
void describe_loop(Member& me, Workshare& share, const Loop& loop);
void begin_loop(Member& me, const Loop& loop);
/// The member's next chunk; false: its loop has ended.
bool next_chunk(Member& me, Chunk& chunk);
/// Leaves the loop, or another worksharing construct.
void leave_share(Member& me);

/// Waits until it is the turn of the member's chunk in an ordered loop.
void await_turn(Member& me);

} // namespace kumiki::openmp
