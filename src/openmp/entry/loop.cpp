#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <utility>

#include "openmp/entry/entry.hpp"
#include "openmp/workshare.hpp"
#include "openmp/team.hpp"

/// Entry points of loop constructs, over long and over unsigned long long (ull).
using namespace kumiki::openmp;

namespace {

using Unsigned = unsigned long long;

Schedule fixed(std::uint64_t chunk) { return {.kind = Kind::fixed, .monotonic = false, .chunk = chunk}; }
Schedule in_chunks(Kind kind, std::uint64_t chunk, bool monotonic) {
    return {.kind = kind, .monotonic = monotonic, .chunk = std::max<std::uint64_t>(chunk, 1)};
}

/// The number that newer compilers pass: 0 for schedule(runtime), else omp_sched_t.
Schedule coded(long code, std::uint64_t chunk) {
    const auto kind = static_cast<unsigned>(code) & ~Schedule::monotonic_flag;
    const bool monotonic = (static_cast<unsigned>(code) & Schedule::monotonic_flag) != 0;
    if (kind == 0) return runtime_schedule(monotonic);
    if (kind == 2 || kind == 3) return in_chunks(Kind(kind), chunk, monotonic);
    return fixed(chunk);
}

template <class Value>
bool next(Member& me, Value* start, Value* end) {
    Chunk chunk;
    if (!next_chunk(me, chunk)) return false;
    *start = static_cast<Value>(me.share->loop.value(chunk.begin));
    *end = static_cast<Value>(me.share->loop.value(chunk.end));
    return true;
}

template <class Value>
bool start(Loop loop, bool ordered, Value* first, Value* last) {
    Member& me = self();
    loop.ordered = ordered;
    enter_loop(me, loop);
    return next(me, first, last);
}

template <class Value>
bool start_with_extras(Loop loop, bool ordered, Value* first, Value* last, std::uintptr_t* reductions, void** memory) {
    Member& me = self();
    loop.ordered = ordered;
    enter_share(me, loop, reductions, memory);
    return first == nullptr || next(me, first, last);
}

/// How many outermost iterations one thread is sure to have at a time. (Blocks, and the chunks of guided loops, differ
/// in length.)
std::uint64_t sure_part(const Schedule& schedule) {
    const bool in_chunks = schedule.kind == Kind::dynamic || schedule.kind == Kind::fixed;
    return in_chunks && schedule.chunk != 0 ? schedule.chunk : 1;
}

template <class Value>
bool start_doacross(unsigned dimensions, const Value* counts, Schedule schedule, Value* first, Value* last,
                    std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
    Member& me = self();
    const Loop loop{.count = static_cast<std::uint64_t>(counts[0]), .schedule = schedule};
    enter_doacross(me, loop, {counts, counts + dimensions}, sure_part(schedule), reductions, memory);
    return first == nullptr || next(me, first, last);
}

/// Null: the calling thread is in no loop with dependences.
const Doacross* doacross(const Member& me) { return me.share != nullptr ? me.share->doacross.get() : nullptr; }

void post(const std::uint64_t* iteration) {
    const Member& me = self();
    if (const Doacross* const loop = doacross(me)) loop->post(me, iteration);
}

template <class Value>
void await(Value first, std::va_list& rest) {
    const Member& me = self();
    const Doacross* const loop = doacross(me);
    if (loop == nullptr) return;
    bool is_first = true;
    loop->await(
        me, [&] { return static_cast<std::uint64_t>(std::exchange(is_first, false) ? first : va_arg(rest, Value)); });
}

} // namespace

// One kind of schedule: its loops, those with ordered regions, and the functions that get the next chunk.
#define KUMIKI_LOOP_START(name, schedule, is_ordered)                                                                  \
    KUMIKI_ENTRY bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long* first, long* last) {   \
        return start(Loop::over(from, to, step, schedule), is_ordered, first, last);                                   \
    }                                                                                                                  \
    KUMIKI_ENTRY bool GOMP_loop_ull_##name##_start(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned chunk, \
                                                   Unsigned* first, Unsigned* last) {                                  \
        return start(Loop::over(up, from, to, step, schedule), is_ordered, first, last);                               \
    }
#define KUMIKI_LOOP_RUNTIME_START(name, monotonic, is_ordered)                                                         \
    KUMIKI_ENTRY bool GOMP_loop_##name##_start(long from, long to, long step, long* first, long* last) {               \
        return start(Loop::over(from, to, step, runtime_schedule(monotonic)), is_ordered, first, last);                \
    }                                                                                                                  \
    KUMIKI_ENTRY bool GOMP_loop_ull_##name##_start(bool up, Unsigned from, Unsigned to, Unsigned step,                 \
                                                   Unsigned* first, Unsigned* last) {                                  \
        return start(Loop::over(up, from, to, step, runtime_schedule(monotonic)), is_ordered, first, last);            \
    }
#define KUMIKI_LOOP_NEXT(name)                                                                                         \
    KUMIKI_ENTRY bool GOMP_loop_##name##_next(long* first, long* last) { return next(self(), first, last); }           \
    KUMIKI_ENTRY bool GOMP_loop_ull_##name##_next(Unsigned* first, Unsigned* last) { return next(self(), first, last); }

KUMIKI_LOOP_START(static, fixed(static_cast<std::uint64_t>(chunk)), false)
KUMIKI_LOOP_START(dynamic, in_chunks(Kind::dynamic, static_cast<std::uint64_t>(chunk), true), false)
KUMIKI_LOOP_START(guided, in_chunks(Kind::guided, static_cast<std::uint64_t>(chunk), true), false)
KUMIKI_LOOP_START(nonmonotonic_dynamic, in_chunks(Kind::dynamic, static_cast<std::uint64_t>(chunk), false), false)
KUMIKI_LOOP_START(nonmonotonic_guided, in_chunks(Kind::guided, static_cast<std::uint64_t>(chunk), false), false)
KUMIKI_LOOP_START(ordered_static, fixed(static_cast<std::uint64_t>(chunk)), true)
KUMIKI_LOOP_START(ordered_dynamic, in_chunks(Kind::dynamic, static_cast<std::uint64_t>(chunk), true), true)
KUMIKI_LOOP_START(ordered_guided, in_chunks(Kind::guided, static_cast<std::uint64_t>(chunk), true), true)
KUMIKI_LOOP_RUNTIME_START(runtime, true, false)
KUMIKI_LOOP_RUNTIME_START(nonmonotonic_runtime, false, false)
KUMIKI_LOOP_RUNTIME_START(maybe_nonmonotonic_runtime, false, false)
KUMIKI_LOOP_RUNTIME_START(ordered_runtime, true, true)
KUMIKI_LOOP_NEXT(static)
KUMIKI_LOOP_NEXT(dynamic)
KUMIKI_LOOP_NEXT(guided)
KUMIKI_LOOP_NEXT(runtime)
KUMIKI_LOOP_NEXT(nonmonotonic_dynamic)
KUMIKI_LOOP_NEXT(nonmonotonic_guided)
KUMIKI_LOOP_NEXT(nonmonotonic_runtime)
KUMIKI_LOOP_NEXT(maybe_nonmonotonic_runtime)
KUMIKI_LOOP_NEXT(ordered_static)
KUMIKI_LOOP_NEXT(ordered_dynamic)
KUMIKI_LOOP_NEXT(ordered_guided)
KUMIKI_LOOP_NEXT(ordered_runtime)

// Loops with reductions or memory that their threads share; their schedule is a number.
#define KUMIKI_CODED_LOOP(name, is_ordered)                                                                            \
    KUMIKI_ENTRY bool GOMP_loop_##name(long from, long to, long step, long code, long chunk, long* first, long* last,  \
                                       std::uintptr_t* reductions, void** memory) {                                    \
        return start_with_extras(Loop::over(from, to, step, coded(code, static_cast<std::uint64_t>(chunk))),           \
                                 is_ordered, first, last, reductions, memory);                                         \
    }                                                                                                                  \
    KUMIKI_ENTRY bool GOMP_loop_ull_##name(bool up, Unsigned from, Unsigned to, Unsigned step, long code,              \
                                           Unsigned chunk, Unsigned* first, Unsigned* last,                            \
                                           std::uintptr_t* reductions, void** memory) {                                \
        return start_with_extras(Loop::over(up, from, to, step, coded(code, chunk)), is_ordered, first, last,          \
                                 reductions, memory);                                                                  \
    }
KUMIKI_CODED_LOOP(start, false)
KUMIKI_CODED_LOOP(ordered_start, true)

#define KUMIKI_DOACROSS(name, schedule)                                                                                \
    KUMIKI_ENTRY bool GOMP_loop_doacross_##name##_start(unsigned dimensions, long* counts, long chunk, long* first,    \
                                                        long* last) {                                                  \
        return start_doacross(dimensions, counts, schedule, first, last);                                              \
    }                                                                                                                  \
    KUMIKI_ENTRY bool GOMP_loop_ull_doacross_##name##_start(unsigned dimensions, Unsigned* counts, Unsigned chunk,     \
                                                            Unsigned* first, Unsigned* last) {                         \
        return start_doacross(dimensions, counts, schedule, first, last);                                              \
    }
KUMIKI_DOACROSS(static, fixed(static_cast<std::uint64_t>(chunk)))
KUMIKI_DOACROSS(dynamic, in_chunks(Kind::dynamic, static_cast<std::uint64_t>(chunk), true))
KUMIKI_DOACROSS(guided, in_chunks(Kind::guided, static_cast<std::uint64_t>(chunk), true))

KUMIKI_ENTRY bool GOMP_loop_doacross_runtime_start(unsigned dimensions, long* counts, long* first, long* last) {
    return start_doacross(dimensions, counts, runtime_schedule(), first, last);
}
KUMIKI_ENTRY bool GOMP_loop_ull_doacross_runtime_start(unsigned dimensions, Unsigned* counts, Unsigned* first,
                                                       Unsigned* last) {
    return start_doacross(dimensions, counts, runtime_schedule(), first, last);
}
KUMIKI_ENTRY bool GOMP_loop_doacross_start(unsigned dimensions, long* counts, long code, long chunk, long* first,
                                           long* last, std::uintptr_t* reductions, void** memory) {
    return start_doacross(dimensions, counts, coded(code, static_cast<std::uint64_t>(chunk)), first, last, reductions,
                          memory);
}
KUMIKI_ENTRY bool GOMP_loop_ull_doacross_start(unsigned dimensions, Unsigned* counts, long code, Unsigned chunk,
                                               Unsigned* first, Unsigned* last, std::uintptr_t* reductions,
                                               void** memory) {
    return start_doacross(dimensions, counts, coded(code, chunk), first, last, reductions, memory);
}

KUMIKI_ENTRY void GOMP_doacross_post(long* iteration) { post(reinterpret_cast<const std::uint64_t*>(iteration)); }
KUMIKI_ENTRY void GOMP_doacross_ull_post(Unsigned* iteration) {
    post(reinterpret_cast<const std::uint64_t*>(iteration));
}
KUMIKI_ENTRY void GOMP_doacross_wait(long first, ...) {
    std::va_list rest;
    va_start(rest, first);
    await(first, rest);
    va_end(rest);
}
KUMIKI_ENTRY void GOMP_doacross_ull_wait(Unsigned first, ...) {
    std::va_list rest;
    va_start(rest, first);
    await(first, rest);
    va_end(rest);
}

KUMIKI_ENTRY void GOMP_loop_end() {
    Member& me = self();
    leave_share(me);
    me.team.barrier(me, __builtin_return_address(0));
}
KUMIKI_ENTRY void GOMP_loop_end_nowait() { leave_share(self()); }
KUMIKI_ENTRY bool GOMP_loop_end_cancel() {
    Member& me = self();
    leave_share(me);
    return me.team.barrier(me, __builtin_return_address(0));
}

KUMIKI_ENTRY void GOMP_ordered_start() { await_turn(self()); }
KUMIKI_ENTRY void GOMP_ordered_end() {} // the turn passes with the chunk
