#include "openmp/loop.hpp"

#include <algorithm>
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

/// Of a dynamic or guided loop of all ranks.
bool next_of_all(const Member& me, const Loop& loop, std::uint64_t threads, Chunk& chunk) {
    OtherRanks& others = *me.team.others();
    chunk.begin = others.next_iteration(me.position.number);
    do {
        if (chunk.begin >= loop.count) return false;
        const std::uint64_t rest = loop.count - chunk.begin;
        const std::uint64_t part = loop.schedule.kind == Kind::guided ? (rest - 1) / threads + 1 : 1;
        chunk.end = chunk.begin + std::min(rest, std::max(part, loop.schedule.chunk));
    } while (!others.take_iterations(me.position.number, chunk.begin, chunk.end));
    return true;
}

bool next_of_schedule(Member& me, Workshare& share, Chunk& chunk) {
    const auto threads = static_cast<std::uint64_t>(me.team.size());
    const auto id = static_cast<std::uint64_t>(me.id);
    const Schedule& schedule = share.loop.schedule;
    if (me.team.others() != nullptr && (schedule.kind == Kind::dynamic || schedule.kind == Kind::guided))
        return next_of_all(me, share.loop, threads, chunk);
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
        me.position.in_turn = false;
        return others->end_turn(me.position.number, me.position.chunk.end);
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

Loop Loop::over(bool up, unsigned long long start, unsigned long long end, unsigned long long step, Schedule schedule) {
    Loop loop;
    loop.first = start;
    loop.step = step;
    if (up) loop.count = start < end ? iterations(end - start, step) : 0;
    else loop.count = start > end ? iterations(start - end, 0 - step) : 0;
    loop.schedule = schedule;
    return loop;
}

void Workshares::wait_until(Member& me, const Workshare& share, std::uint64_t state) const {
    // acquire: the member sees what the one wrote that prepared or cleared the share.
    wait::wait(me.team.bell(), me.team.patience(),
               [&] { return share.state.load(std::memory_order_acquire) >= state; });
}

void Workshares::announce(Member& me, Workshare& share, std::uint64_t state) const {
    share.state.store(state, std::memory_order_release);
    me.team.ring();
}

void Workshares::clear(Workshare& share) {
    share.doacross.reset();
    share.memory.reset();
    share.reductions = nullptr;
    share.cancelled.store(false, std::memory_order_relaxed);
    share.next.store(0, std::memory_order_relaxed);
    share.ordered.store(0, std::memory_order_relaxed);
    share.left.store(0, std::memory_order_relaxed);
}

void Workshares::leave(Member& me) {
    Workshare& share = *me.share;
    me.share = nullptr;
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

void enter_loop(Member& me, const Loop& loop) {
    me.team.shares().enter(me, [&](Workshare& share) { share.loop = loop; });
    me.position = {};
    number_loop(me, loop);
}

/// Loops whose threads are at several ranks have numbers there.
void number_loop(Member& me, const Loop& loop) {
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
        if (!std::exchange(me.position.in_turn, true)) others->begin_turn(me.position.number, me.position.chunk.begin);
        return;
    }
    wait::wait(me.team.bell(), me.team.patience(), [&] {
        return share.ordered.load(std::memory_order_acquire) == me.position.chunk.begin || me.team.cancelled() ||
               share.cancelled.load(std::memory_order_relaxed);
    });
}

} // namespace kumiki::openmp
