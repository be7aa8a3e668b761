#include "openmp/process.hpp"
#include "openmp/loop.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

/// Iterations of a loop whose variable covers `distance` in steps of `step`.
std::uint64_t iterations(std::uint64_t distance, std::uint64_t step) {
    return distance == 0 ? 0 : (distance - 1) / step + 1;
}

/// A static loop without a chunk size: one chunk for each thread, the longer ones first, as the compiler deals them out
/// where it needs no runtime.
bool next_block(const Loop& loop, std::uint64_t id, std::uint64_t threads, std::uint64_t turn, Chunk& chunk) {
    if (turn != 0) return false;
    const std::uint64_t share = loop.count / threads, longer = loop.count % threads;
    chunk.begin = id * share + std::min(id, longer);
    chunk.end = chunk.begin + share + (id < longer ? 1 : 0);
    return chunk.begin != chunk.end;
}

bool next_in_turn(const Loop& loop, std::uint64_t id, std::uint64_t threads, std::uint64_t turn, Chunk& chunk) {
    const std::uint64_t size = loop.schedule.chunk, chunks = iterations(loop.count, size);
    const std::uint64_t mine = turn * threads + id;
    if (mine >= chunks) return false;
    chunk.begin = mine * size;
    chunk.end = loop.count - chunk.begin > size ? chunk.begin + size : loop.count;
    return true;
}

/// Whether the additions to `next` stay below 2^64: each thread adds at most once behind the end, and there are less
/// than 2^16 threads.
bool adds(const Loop& loop) {
    constexpr unsigned bits = 47;
    return ((loop.count | loop.schedule.chunk) >> bits) == 0;
}

bool next_dynamic(Workshare& share, LoopPosition& position, Chunk& chunk) {
    const Loop& loop = share.loop;
    const std::uint64_t size = loop.schedule.chunk;
    // Relaxed, as everywhere with `next`: it deals out numbers and publishes nothing; what is in `loop` came with the
    // state of the share. One access for each chunk: a load before the addition would be a second miss.
    if (adds(loop)) [[likely]] {
        if (position.ended) return false;
        chunk.begin = share.next.fetch_add(size, std::memory_order_relaxed);
        if (chunk.begin >= loop.count) {
            position.ended = true;
            return false;
        }
    } else {
        chunk.begin = share.next.load(std::memory_order_relaxed);
        do {
            if (chunk.begin == loop.count) return false;
        } while (!share.next.compare_exchange_weak(chunk.begin, chunk.begin + std::min(size, loop.count - chunk.begin),
                                                   std::memory_order_relaxed));
    }
    chunk.end = chunk.begin + std::min(size, loop.count - chunk.begin);
    return true;
}

/// Each chunk is the part of the rest that one thread would get, but not smaller than the chunk size.
bool next_guided(Workshare& share, std::uint64_t threads, Chunk& chunk) {
    const Loop& loop = share.loop;
    chunk.begin = share.next.load(std::memory_order_relaxed);
    do {
        const std::uint64_t rest = loop.count - chunk.begin;
        if (rest == 0) return false;
        chunk.end = chunk.begin + std::min(rest, std::max((rest - 1) / threads + 1, loop.schedule.chunk));
    } while (!share.next.compare_exchange_weak(chunk.begin, chunk.end, std::memory_order_relaxed));
    return true;
}

/// Of a dynamic or guided loop of all ranks: first from the part of this one, then from those of the others, so that a
/// loop that is repeated has mostly the same iterations, and pages, at each rank. A thread that leaves the loop has
/// seen all parts without iterations.
bool take_of_parts(Member& me, const Workshare& share, Chunk& chunk) {
    OtherRanks& others = *me.team.others();
    const LoopParts& parts = share.parts;
    const Schedule& schedule = share.loop.schedule;
    for (int& done = me.position.parts_done; done < parts.ranks(); ++done) {
        const int owner = (others.rank() + done) % parts.ranks();
        const std::uint64_t length = parts.length(owner);
        if (length == 0) continue;
        const Part threads = others.part_of(owner, me.team.size());
        std::uint64_t begin = others.next_iteration(me.position.number, owner);
        while (begin < length) {
            const std::uint64_t rest = length - begin;
            const auto sharing = static_cast<std::uint64_t>(std::max(threads.count, 1));
            std::uint64_t wanted =
                std::max(schedule.kind == Kind::guided ? (rest - 1) / sharing + 1 : 1, schedule.chunk);
            if (schedule.kind == Kind::guided && rest - std::min(rest, wanted) < schedule.chunk)
                wanted = rest; // a chunk is shorter than the program has said only at the end of the loop
            chunk = parts.from(owner, begin, wanted);
            if (others.take_iterations(me.position.number, owner, begin, begin + (chunk.end - chunk.begin)))
                return true;
        }
    }
    return false;
}

/// A thread that gets the loop's last iteration executes it after all others that it gets: compilers look for that
/// iteration at the end of each thread's work (lastprivate, linear).
bool next_of_parts(Member& me, const Workshare& share, Chunk& chunk) {
    if (take_of_parts(me, share, chunk)) {
        if (chunk.end != share.loop.count) return true;
        me.position.last = chunk;
        if (take_of_parts(me, share, chunk)) return true;
    }
    chunk = std::exchange(me.position.last, {});
    return chunk.begin != chunk.end;
}

/// Of a static loop whose iterations are where its pages are: the thread's share of its rank's part.
bool next_of_own_part(Member& me, const Workshare& share, Chunk& chunk) {
    OtherRanks& others = *me.team.others();
    const auto part = share.parts.length(others.rank());
    const auto here = static_cast<std::uint64_t>(me.team.here()), place = static_cast<std::uint64_t>(me.place_here);
    const std::uint64_t begin = part * place / here + me.position.taken, end = part * (place + 1) / here;
    if (begin >= end) return false;
    chunk = share.parts.from(others.rank(), begin, end - begin);
    me.position.taken += chunk.end - chunk.begin;
    return true;
}

bool next_of_schedule(Member& me, Workshare& share, Chunk& chunk) {
    const auto threads = static_cast<std::uint64_t>(me.team.size());
    const auto id = static_cast<std::uint64_t>(me.id);
    const Schedule& schedule = share.loop.schedule;
    if (!share.parts.empty())
        return schedule.is_shared_out() ? next_of_parts(me, share, chunk) : next_of_own_part(me, share, chunk);
    switch (schedule.kind) {
    case Kind::dynamic: return next_dynamic(share, me.position, chunk);
    case Kind::guided: return next_guided(share, threads, chunk);
    case Kind::fixed:
        if (schedule.chunk != 0) return next_in_turn(share.loop, id, threads, me.position.turns++, chunk);
        break;
    case Kind::automatic: break;
    }
    return next_block(share.loop, id, threads, me.position.turns++, chunk);
}

/// The member has done its chunk of an ordered loop, with or without an ordered region.
void pass_turn(Member& me) {
    await_turn(me);
    if (OtherRanks* const others = me.team.others()) {
        if (std::exchange(me.position.in_turn, false)) others->end_turn(me.position.number, me.position.chunk.end);
        return;
    }
    // release: the next chunk's thread sees what this one did in its ordered regions.
    me.share->ordered.store(me.position.chunk.end, std::memory_order_release);
    me.team.ring();
}

} // namespace

Loop Loop::over(long start, long end, long step, Schedule schedule) {
    Loop loop;
    const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(end),
               by = static_cast<std::uint64_t>(step);
    loop.first = from;
    loop.step = by;
    if (step > 0) loop.count = start < end ? iterations(to - from, by) : 0;
    else loop.count = start > end ? iterations(from - to, 0 - by) : 0;
    loop.schedule = schedule;
    return loop;
}

Loop Loop::sections(unsigned count) {
    return over(1, static_cast<long>(count) + 1, 1, {.kind = Kind::dynamic, .monotonic = true, .chunk = 1});
}

Loop Loop::over(bool up, unsigned long long start, unsigned long long end, unsigned long long step, Schedule schedule) {
    Loop loop;
    loop.first = start;
    loop.step = step;
    if (up) loop.count = start < end ? iterations(end - start, step) : 0;
    else loop.count = start > end ? iterations(start - end, 0 - step) : 0;
    loop.schedule = schedule;
    return loop;
}

bool Workshares::wait_until(Member& me, const Workshare& share, std::uint64_t state) const {
    // acquire: the member sees what the one wrote that prepared or cleared the share.
    const auto reached = [&] { return share.state.load(std::memory_order_acquire) >= state; };
    wait::wait(me.team.bell(), me.team.patience(), [&] { return reached() || me.team.cancelled(); });
    return reached();
}

void Workshares::announce(Member& me, Workshare& share, std::uint64_t state) const {
    share.state.store(state, std::memory_order_release);
    me.team.ring();
}

void Workshares::clear(Workshare& share) {
    share.doacross.reset();
    share.memory.reset();
    share.words.reset();
    share.copies = nullptr;
    share.cancelled.store(false, std::memory_order_relaxed);
    share.next.store(0, std::memory_order_relaxed);
    share.ordered.store(0, std::memory_order_relaxed);
    share.left.store(0, std::memory_order_relaxed);
}

void Workshares::leave(Member& me) {
    Workshare& share = *me.share;
    me.share = nullptr;
    if (share.of_one_thread) {
        delete &share;
        return;
    }
    // acq_rel: the last one clears what the others have used before.
    if (share.left.fetch_add(1, std::memory_order_acq_rel) + 1 != static_cast<std::uint32_t>(me.team.here())) return;
    clear(share);
    announce(me, share, share.state.load(std::memory_order_relaxed) + (states - ready));
}

void Workshares::reset() {
    for (Workshare& share : *ring_) {
        clear(share);
        share.state.store(0, std::memory_order_relaxed);
    }
}

void LoopParts::add(int rank, Chunk iterations) {
    if (iterations.begin == iterations.end) return;
    auto& runs = runs_[static_cast<std::size_t>(rank)];
    if (!runs.empty() && runs.back().iterations.end == iterations.begin) runs.back().iterations.end = iterations.end;
    else runs.push_back({length(rank), iterations});
}

std::uint64_t LoopParts::length(int rank) const {
    const auto& runs = runs_[static_cast<std::size_t>(rank)];
    if (runs.empty()) return 0;
    const Run& last = runs.back();
    return last.before + (last.iterations.end - last.iterations.begin);
}

Chunk LoopParts::from(int rank, std::uint64_t begin, std::uint64_t most) const {
    const auto& runs = runs_[static_cast<std::size_t>(rank)];
    const auto after = std::ranges::upper_bound(runs, begin, {}, &Run::before); // the first run has 0
    const Run& run = *std::prev(after);
    const std::uint64_t first = run.iterations.begin + (begin - run.before);
    return {first, first + std::min(most, run.iterations.end - first)};
}

void enter_loop(Member& me, const Loop& loop) {
    me.team.shares().enter(me, [&](Workshare& share) { describe_loop(me, share, loop); });
    begin_loop(me, loop);
}

void describe_loop(Member& me, Workshare& share, const Loop& loop) {
    share.loop = loop;
    if (OtherRanks* const others = me.team.others()) share.parts = others->parts(loop, me.team.size());
    else if (!share.parts.empty()) share.parts = {};
}

/// Loops whose threads are at several ranks have numbers there.
void begin_loop(Member& me, const Loop& loop) {
    me.position = {};
    const OtherRanks* const others = me.team.others();
    if (others == nullptr) return;
    if (loop.count >= OtherRanks::most_iterations) others->refuse("a loop with more than 2^40 iterations");
    me.position.number = me.claims_met++;
}

bool next_chunk(Member& me, Chunk& chunk) {
    Workshare& share = *me.share;
    const bool ordered = share.loop.ordered;
    if (ordered && me.position.in_chunk) pass_turn(me);
    me.position.in_chunk = false;
    if (process().environment().cancellation) me.team.take_in_cancellation(me);
    if (share.cancelled.load(std::memory_order_relaxed) || me.team.cancelled()) return false;
    if (!next_of_schedule(me, share, chunk)) return false;
    if (ordered) {
        me.position.chunk = chunk;
        me.position.in_chunk = true;
    }
    return true;
}

void leave_share(Member& me) {
    if (me.share == nullptr) return;
    if (me.share->loop.ordered && me.position.in_chunk) pass_turn(me);
    me.position.in_chunk = false;
    me.team.shares().leave(me);
}

void await_turn(Member& me) {
    if (me.share == nullptr || !me.position.in_chunk) return;
    const Workshare& share = *me.share;
    if (OtherRanks* const others = me.team.others()) {
        if (!me.position.in_turn) me.position.in_turn = others->begin_turn(me.position.number, me.position.chunk.begin);
        return;
    }
    wait::wait(me.team.bell(), me.team.patience(), [&] {
        return share.ordered.load(std::memory_order_acquire) == me.position.chunk.begin || me.team.cancelled() ||
               share.cancelled.load(std::memory_order_relaxed);
    });
}

} // namespace kumiki::openmp
