#include <algorithm>

#include "openmp/entry/entry.hpp"
#include "openmp/reduction.hpp"
#include "openmp/team.hpp"
#include "openmp/workshare.hpp"

/// Entry points of parallel and teams constructs.
using namespace kumiki::openmp;

namespace {

using Body = void (*)(void*);

constexpr unsigned bind_bits = 7; ///< of the flags: the proc_bind clause

int count(unsigned number) { return static_cast<int>(std::min(number, 1U << 20)); }

void run(const Region& region) {
    begin_parallel(region);
    region.function(region.data);
    end_parallel();
}

Schedule schedule_of(Kind kind, long chunk) {
    return {.kind = kind, .monotonic = false, .chunk = static_cast<std::uint64_t>(std::max(chunk, 0L))};
}
Schedule dynamic_schedule(Kind kind, long chunk, bool monotonic) {
    return {.kind = kind, .monotonic = monotonic, .chunk = static_cast<std::uint64_t>(std::max(chunk, 1L))};
}

void run_loop(Body body, void* data, unsigned threads, const Loop& loop, unsigned flags) {
    run({.function = body, .data = data, .threads = count(threads), .bind = Bind(flags & bind_bits), .loop = &loop});
}
void start_loop(Body body, void* data, unsigned threads, const Loop& loop) {
    begin_parallel({.function = body, .data = data, .threads = count(threads), .loop = &loop});
}

} // namespace

KUMIKI_ENTRY void GOMP_parallel(Body body, void* data, unsigned threads, unsigned flags) {
    run({.function = body, .data = data, .threads = count(threads), .bind = Bind(flags & bind_bits)});
}

KUMIKI_ENTRY unsigned GOMP_parallel_reductions(Body body, void* data, unsigned threads, unsigned flags) {
    auto* const reductions = *static_cast<std::uintptr_t**>(data);
    const int most = threads_for(self(), count(threads));
    register_reductions(reductions, nullptr, most, allocate_copies(reductions, most));
    begin_parallel(
        {.function = body, .data = data, .threads = most, .bind = Bind(flags & bind_bits), .reductions = reductions});
    const auto got = static_cast<unsigned>(self().team.size());
    body(data);
    end_parallel();
    return got;
}

KUMIKI_ENTRY void GOMP_parallel_start(Body body, void* data, unsigned threads) {
    begin_parallel({.function = body, .data = data, .threads = count(threads)});
}
KUMIKI_ENTRY void GOMP_parallel_end() { end_parallel(); }

#define KUMIKI_PARALLEL_LOOP(name, schedule)                                                                           \
    KUMIKI_ENTRY void GOMP_parallel_loop_##name(Body body, void* data, unsigned threads, long start, long end,         \
                                                long step, long chunk, unsigned flags) {                               \
        run_loop(body, data, threads, Loop::over(start, end, step, schedule), flags);                                  \
    }
KUMIKI_PARALLEL_LOOP(static, schedule_of(Kind::fixed, chunk))
KUMIKI_PARALLEL_LOOP(dynamic, dynamic_schedule(Kind::dynamic, chunk, true))
KUMIKI_PARALLEL_LOOP(guided, dynamic_schedule(Kind::guided, chunk, true))
KUMIKI_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic_schedule(Kind::dynamic, chunk, false))
KUMIKI_PARALLEL_LOOP(nonmonotonic_guided, dynamic_schedule(Kind::guided, chunk, false))

#define KUMIKI_PARALLEL_RUNTIME_LOOP(name, monotonic)                                                                  \
    KUMIKI_ENTRY void GOMP_parallel_loop_##name(Body body, void* data, unsigned threads, long start, long end,         \
                                                long step, unsigned flags) {                                           \
        run_loop(body, data, threads, Loop::over(start, end, step, runtime_schedule(monotonic)), flags);               \
    }
KUMIKI_PARALLEL_RUNTIME_LOOP(runtime, true)
KUMIKI_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime, false)
KUMIKI_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)

#define KUMIKI_START_LOOP(name, schedule)                                                                              \
    KUMIKI_ENTRY void GOMP_parallel_loop_##name##_start(Body body, void* data, unsigned threads, long start, long end, \
                                                        long step, long chunk) {                                       \
        start_loop(body, data, threads, Loop::over(start, end, step, schedule));                                       \
    }
KUMIKI_START_LOOP(static, schedule_of(Kind::fixed, chunk))
KUMIKI_START_LOOP(dynamic, dynamic_schedule(Kind::dynamic, chunk, true))
KUMIKI_START_LOOP(guided, dynamic_schedule(Kind::guided, chunk, true))

KUMIKI_ENTRY void GOMP_parallel_loop_runtime_start(Body body, void* data, unsigned threads, long start, long end,
                                                   long step) {
    start_loop(body, data, threads, Loop::over(start, end, step, runtime_schedule(true)));
}

KUMIKI_ENTRY void GOMP_parallel_sections(Body body, void* data, unsigned threads, unsigned number, unsigned flags) {
    run_loop(body, data, threads, Loop::sections(number), flags);
}
KUMIKI_ENTRY void GOMP_parallel_sections_start(Body body, void* data, unsigned threads, unsigned number) {
    start_loop(body, data, threads, Loop::sections(number));
}
