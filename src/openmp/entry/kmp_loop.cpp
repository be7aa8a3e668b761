#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "openmp/entry/kmp.hpp"
#include "openmp/workshare.hpp"

/// Entry points of loops as clang calls them. The bounds of its loops are inclusive. Static loops without ordered are
/// dealt out by one call, which touches nothing that threads share; all others ask for one chunk after the other.
using namespace kumiki::openmp;
using kmp::Source;

extern "C" int omp_get_team_num();
extern "C" int omp_get_num_teams();

namespace {

/// The interface's numbers of schedules. Those of ordered loops are higher by `to_ordered`; two high bits say monotonic
/// and nonmonotonic.
enum Number : std::int32_t {
    static_chunked = 33,
    static_plain = 34,
    dynamic_chunked = 35,
    guided_chunked = 36,
    runtime = 37,
    automatic = 38,
    trapezoidal = 39,
    guided_iterative = 42,
    guided_analytical = 43,
    static_steal = 44,
    static_balanced_chunked = 45, ///< blocks whose lengths are multiples of the chunk size (simd)
    guided_simd = 46,             ///< as without simd: that lengths are multiples is only quicker
    runtime_simd = 47,            ///< the chunk size is what multiplies that of the schedule
    first_ordered = 64,
    last_ordered = 71,
    distribute_chunked = 91,
    distribute = 92,
    first_without_merging = 160
};
constexpr std::int32_t to_ordered = 32, to_without_merging = 128, monotonic_bit = 1 << 29, modifiers = 3 << 29;

std::int32_t plain(std::int32_t number) {
    number &= ~modifiers;
    return number >= first_without_merging ? number - to_without_merging : number;
}

/// Iterations from `lower` to `upper`, both inclusive. They are counted in numbers as long as the loop's, as LLVM's
/// runtime does, so that a loop over all of these has none: flang's loops without iterations go from 0 to -1, both
/// unsigned.
template <class Value>
std::uint64_t iterations(Value lower, Value upper, std::make_signed_t<Value> step) {
    using Bits = std::make_unsigned_t<Value>;
    if (step > 0 ? upper < lower : lower < upper) return 0;
    if (step > 0) return static_cast<Bits>(static_cast<Bits>(Bits(upper) - Bits(lower)) / Bits(step) + 1);
    return static_cast<Bits>(static_cast<Bits>(Bits(lower) - Bits(upper)) / (Bits(0) - Bits(step)) + 1);
}

/// Gives the one of `parties` with number `id` its first iterations, the distance of its next ones, and whether it has
/// the last iteration of all. Numbers wrap around as the program's own would.
template <class Value>
void deal(std::int32_t number, std::uint64_t id, std::uint64_t parties, std::int32_t* last, Value* lower, Value* upper,
          std::make_signed_t<Value>* stride, std::make_signed_t<Value> step, std::make_signed_t<Value> chunk_size) {
    const std::uint64_t count = iterations(*lower, *upper, step);
    const auto by = static_cast<std::uint64_t>(step), first = static_cast<std::uint64_t>(*lower);
    const auto chunk = static_cast<std::uint64_t>(std::max<std::make_signed_t<Value>>(chunk_size, 1));
    bool has_last = false;
    const auto give = [&](std::uint64_t begin, std::uint64_t length, std::uint64_t distance) {
        *lower = static_cast<Value>(first + begin * by);
        *upper = static_cast<Value>(first + begin * by + length * by - by);
        *stride = static_cast<std::make_signed_t<Value>>(distance * by);
    };
    if (count == 0) {
        *stride = step; // the bounds are those of no iteration already
    } else if (number == static_chunked || number == distribute_chunked) {
        give(id * chunk, chunk, parties * chunk);
        has_last = (count - 1) / chunk % parties == id;
    } else if (number == static_balanced_chunked) {
        const std::uint64_t length = ((count + parties - 1) / parties + chunk - 1) / chunk * chunk;
        const std::uint64_t begin = std::min(count, id * length), end = std::min(count, begin + length);
        give(begin, end - begin, count);
        has_last = begin != end && end == count;
    } else {
        const std::uint64_t share = count / parties, longer = count % parties;
        const std::uint64_t begin = id * share + std::min(id, longer), length = share + (id < longer ? 1 : 0);
        give(begin, length, count);
        has_last = length != 0 && begin + length == count;
    }
    if (last != nullptr) *last = has_last ? 1 : 0;
}

template <class Value>
void deal_to_threads_or_teams(std::int32_t number, std::int32_t* last, Value* lower, Value* upper,
                              std::make_signed_t<Value>* stride, std::make_signed_t<Value> step,
                              std::make_signed_t<Value> chunk) {
    number = plain(number);
    const Member& me = self();
    const bool to_teams = number == distribute || number == distribute_chunked;
    const int id = to_teams ? omp_get_team_num() : me.id;
    const int parties = to_teams ? omp_get_num_teams() : me.team.size();
    deal(number, static_cast<std::uint64_t>(id), static_cast<std::uint64_t>(parties), last, lower, upper, stride, step,
         chunk);
}

/// A loop that is distributed to the teams, and each part to the threads of its team.
template <class Value>
void deal_to_both(std::int32_t number, std::int32_t* last, Value* lower, Value* upper, Value* team_upper,
                  std::make_signed_t<Value>* stride, std::make_signed_t<Value> step, std::make_signed_t<Value> chunk) {
    std::int32_t last_team = 0, last_thread = 0;
    deal_to_threads_or_teams(distribute, &last_team, lower, upper, stride, step, chunk);
    *team_upper = *upper;
    deal_to_threads_or_teams(number, &last_thread, lower, upper, stride, step, chunk);
    if (last != nullptr) *last = last_team & last_thread;
}

/// What LLVM's runtime does if nobody has chosen a schedule. (GCC's deals out one iteration after the other.)
constexpr Schedule default_schedule{.kind = Kind::fixed, .monotonic = false, .chunk = 0};

Schedule schedule_of(std::int32_t number, std::int64_t chunk_size, bool monotonic) {
    const auto chunk = static_cast<std::uint64_t>(std::max<std::int64_t>(chunk_size, 1));
    switch (number) {
    case runtime:
    case runtime_simd: {
        if (!self().task->controls.has_schedule) return default_schedule;
        Schedule schedule = runtime_schedule(monotonic);
        if (number == runtime_simd) schedule.chunk *= chunk;
        return schedule;
    }
    case dynamic_chunked:
    case static_steal: return {.kind = Kind::dynamic, .monotonic = monotonic, .chunk = chunk};
    case guided_simd:
    case guided_chunked:
    case guided_iterative:
    case guided_analytical:
    case trapezoidal: return {.kind = Kind::guided, .monotonic = monotonic, .chunk = chunk};
    case static_chunked:
    case static_balanced_chunked: return {.kind = Kind::fixed, .monotonic = false, .chunk = chunk};
    default: return {.kind = Kind::fixed, .monotonic = false, .chunk = 0};
    }
}

template <class Value>
void start(std::int32_t number, Value lower, Value upper, std::make_signed_t<Value> step,
           std::make_signed_t<Value> chunk) {
    Member& me = self();
    kmp::settle(me);
    const bool monotonic = (number & monotonic_bit) != 0;
    number = plain(number);
    const bool ordered = number >= first_ordered && number <= last_ordered;
    enter_loop(me, Loop{.first = static_cast<std::uint64_t>(lower),
                        .step = static_cast<std::uint64_t>(step),
                        .count = iterations(lower, upper, step),
                        .schedule = schedule_of(ordered ? number - to_ordered : number, chunk, monotonic),
                        .ordered = ordered});
}

/// The next chunk. Its absence is the only sign of the end of the loop that the runtime gets.
template <class Value>
std::int32_t next(std::int32_t* last, Value* lower, Value* upper, std::make_signed_t<Value>* stride) {
    Member& me = self();
    if (me.share == nullptr) return 0;
    Chunk chunk;
    if (!next_chunk(me, chunk)) {
        leave_share(me);
        return 0;
    }
    const Loop& loop = me.share->loop;
    *lower = static_cast<Value>(loop.value(chunk.begin));
    *upper = static_cast<Value>(loop.value(chunk.end - 1));
    if (stride != nullptr) *stride = static_cast<std::make_signed_t<Value>>(loop.step);
    if (last != nullptr) *last = chunk.end == loop.count ? 1 : 0;
    return 1;
}

} // namespace

#define KUMIKI_KMP_LOOP(suffix, value, difference)                                                                     \
    KUMIKI_ENTRY void __kmpc_for_static_init_##suffix(const Source*, std::int32_t, std::int32_t schedule,              \
                                                      std::int32_t* last, value* lower, value* upper,                  \
                                                      difference* stride, difference step, difference chunk) {         \
        deal_to_threads_or_teams(schedule, last, lower, upper, stride, step, chunk);                                   \
    }                                                                                                                  \
    KUMIKI_ENTRY void __kmpc_dist_for_static_init_##suffix(                                                            \
        const Source*, std::int32_t, std::int32_t schedule, std::int32_t* last, value* lower, value* upper,            \
        value* team_upper, difference* stride, difference step, difference chunk) {                                    \
        deal_to_both(schedule, last, lower, upper, team_upper, stride, step, chunk);                                   \
    }                                                                                                                  \
    KUMIKI_ENTRY void __kmpc_team_static_init_##suffix(const Source*, std::int32_t, std::int32_t* last, value* lower,  \
                                                       value* upper, difference* stride, difference step,              \
                                                       difference chunk) {                                             \
        deal_to_threads_or_teams(distribute_chunked, last, lower, upper, stride, step, chunk);                         \
    }                                                                                                                  \
    KUMIKI_ENTRY void __kmpc_dispatch_init_##suffix(const Source*, std::int32_t, std::int32_t schedule, value lower,   \
                                                    value upper, difference step, difference chunk) {                  \
        start(schedule, lower, upper, step, chunk);                                                                    \
    }                                                                                                                  \
    KUMIKI_ENTRY void __kmpc_dist_dispatch_init_##suffix(const Source*, std::int32_t, std::int32_t schedule,           \
                                                         std::int32_t* last, value lower, value upper,                 \
                                                         difference step, difference chunk) {                          \
        difference stride = 0;                                                                                         \
        deal_to_threads_or_teams(distribute, last, &lower, &upper, &stride, step, chunk);                              \
        start(schedule, lower, upper, step, chunk);                                                                    \
    }                                                                                                                  \
    KUMIKI_ENTRY std::int32_t __kmpc_dispatch_next_##suffix(const Source*, std::int32_t, std::int32_t* last,           \
                                                            value* lower, value* upper, difference* stride) {          \
        return next(last, lower, upper, stride);                                                                       \
    }                                                                                                                  \
    /* An iteration of an ordered loop has ended; its turn passes with the chunk. */                                   \
    KUMIKI_ENTRY void __kmpc_dispatch_fini_##suffix(const Source*, std::int32_t) {}
KUMIKI_KMP_LOOP(4, std::int32_t, std::int32_t)
KUMIKI_KMP_LOOP(4u, std::uint32_t, std::int32_t)
KUMIKI_KMP_LOOP(8, std::int64_t, std::int64_t)
KUMIKI_KMP_LOOP(8u, std::uint64_t, std::int64_t)

KUMIKI_ENTRY void __kmpc_for_static_fini(const Source*, std::int32_t) {}
/// The end of a loop of chunks, which has been left already when its last chunk was asked for.
KUMIKI_ENTRY void __kmpc_dispatch_deinit(const Source*, std::int32_t) {}

KUMIKI_ENTRY void __kmpc_ordered(const Source*, std::int32_t) { await_turn(self()); }
KUMIKI_ENTRY void __kmpc_end_ordered(const Source*, std::int32_t) {}

/// omp_get_schedule() of programs that clang made (kmp_names.cpp).
extern "C" void omp_get_schedule(unsigned* kind, int* chunk);
extern "C" __attribute__((visibility("hidden"))) void kumiki_kmp_get_schedule(unsigned* kind, int* chunk) {
    if (self().task->controls.has_schedule) return omp_get_schedule(kind, chunk);
    *kind = static_cast<unsigned>(default_schedule.kind);
    *chunk = static_cast<int>(default_schedule.chunk);
}
