#include <algorithm>
#include <chrono>
#include <cstdint>

#include "openmp/entry/entry.hpp"
#include "openmp/places.hpp"
#include "openmp/team.hpp"

/// Entry points by which a program asks and sets the control variables. Those with a trailing underscore are for
/// Fortran, which passes addresses; _8_ is for its 8-byte integers.
using namespace kumiki::openmp;

namespace {

Controls& controls() { return self().task->controls; }

/// The member of the enclosing team at a level; nullptr: there is no such level.
const Member* at_level(int level) {
    const Member* member = &self();
    if (level < 0 || level > member->team.level()) return nullptr;
    while (member->team.level() > level) member = member->team.outer();
    return member;
}

int clamped(std::int64_t value) { return static_cast<int>(std::clamp<std::int64_t>(value, -1, 0x7fffffff)); }

} // namespace

#define KUMIKI_GET(type, name, value)                                                                                  \
    KUMIKI_ENTRY type omp_##name() { return value; }                                                                   \
    KUMIKI_ENTRY type omp_##name##_() { return value; }
#define KUMIKI_SET(name, ...)                                                                                          \
    KUMIKI_ENTRY void omp_##name(int value) { __VA_ARGS__; }                                                           \
    KUMIKI_ENTRY void omp_##name##_(const std::int32_t* value) { omp_##name(*value); }                                 \
    KUMIKI_ENTRY void omp_##name##_8_(const std::int64_t* value) { omp_##name(clamped(*value)); }
#define KUMIKI_ASK(name, ...)                                                                                          \
    KUMIKI_ENTRY int omp_##name(int value) { __VA_ARGS__; }                                                            \
    KUMIKI_ENTRY int omp_##name##_(const std::int32_t* value) { return omp_##name(*value); }                           \
    KUMIKI_ENTRY int omp_##name##_8_(const std::int64_t* value) { return omp_##name(clamped(*value)); }

KUMIKI_GET(int, get_num_threads, self().team.size())
KUMIKI_GET(int, get_thread_num, self().id)
KUMIKI_GET(int, get_max_threads, controls().threads)
KUMIKI_GET(int, get_num_procs,
           process().others() != nullptr ? process().others()->processors() : process().processors())
KUMIKI_GET(int, in_parallel, self().team.active_level() > 0 ? 1 : 0)
KUMIKI_GET(int, get_dynamic, controls().dynamic ? 1 : 0)
KUMIKI_GET(int, get_nested, controls().max_active_levels > std::max(1, self().team.active_level()) ? 1 : 0)
KUMIKI_GET(int, get_thread_limit, controls().thread_limit)
KUMIKI_GET(int, get_max_active_levels, controls().max_active_levels)
KUMIKI_GET(int, get_supported_active_levels, most_active_levels)
KUMIKI_GET(int, get_level, self().team.level())
KUMIKI_GET(int, get_active_level, self().team.active_level())
KUMIKI_GET(int, get_cancellation, process().environment().cancellation ? 1 : 0)
KUMIKI_GET(int, get_proc_bind, static_cast<int>(controls().bind))
KUMIKI_GET(int, get_max_task_priority, process().environment().max_task_priority)
KUMIKI_GET(int, get_num_places, static_cast<int>(process().environment().places.size()))
KUMIKI_GET(int, get_place_num, self().place)
KUMIKI_GET(int, get_partition_num_places, self().partition.length)
KUMIKI_GET(int, get_teams_thread_limit, controls().teams_thread_limit)
KUMIKI_GET(int, get_max_teams, process().environment().num_teams)

KUMIKI_SET(set_num_threads, controls().threads = std::max(value, 1))
KUMIKI_SET(set_dynamic, controls().dynamic = value != 0)
KUMIKI_SET(set_nested,
           controls().max_active_levels = value != 0 ? most_active_levels : std::min(controls().max_active_levels, 1))
KUMIKI_SET(set_max_active_levels, if (value >= 0) controls().max_active_levels = std::min(value, most_active_levels))
KUMIKI_SET(set_num_teams, process().set_num_teams(std::max(value, 0)))
KUMIKI_SET(set_teams_thread_limit, controls().teams_thread_limit = std::max(value, 0))

KUMIKI_ASK(get_ancestor_thread_num, const Member* const member = at_level(value); return member ? member->id : -1)
KUMIKI_ASK(get_team_size, const Member* const member = at_level(value); return member ? member->team.size() : -1)
KUMIKI_ASK(get_place_num_procs, const auto& places = process().environment().places;
           return value < 0 || static_cast<std::size_t>(value) >= places.size()
                      ? 0
                      : static_cast<int>(places[static_cast<std::size_t>(value)].size()))

KUMIKI_ENTRY double omp_get_wtime() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
KUMIKI_ENTRY double omp_get_wtime_() { return omp_get_wtime(); }
KUMIKI_ENTRY double omp_get_wtick() {
    return std::chrono::duration<double>(std::chrono::steady_clock::duration(1)).count();
}
KUMIKI_ENTRY double omp_get_wtick_() { return omp_get_wtick(); }

KUMIKI_ENTRY void omp_set_schedule(unsigned kind, int chunk) {
    const unsigned plain = kind & ~Schedule::monotonic_flag;
    if (plain < 1 || plain > 4) return;
    Schedule& schedule = controls().schedule;
    controls().has_schedule = true;
    schedule.kind = Kind(plain);
    schedule.monotonic = (kind & Schedule::monotonic_flag) != 0;
    const bool in_chunks = schedule.kind == Kind::dynamic || schedule.kind == Kind::guided;
    schedule.chunk = static_cast<std::uint64_t>(std::max(chunk, in_chunks ? 1 : 0));
    if (schedule.kind == Kind::automatic) schedule.chunk = 0;
}
KUMIKI_ENTRY void omp_set_schedule_(const std::uint32_t* kind, const std::int32_t* chunk) {
    omp_set_schedule(*kind, *chunk);
}
KUMIKI_ENTRY void omp_set_schedule_8_(const std::uint32_t* kind, const std::int64_t* chunk) {
    omp_set_schedule(*kind, clamped(*chunk));
}
KUMIKI_ENTRY void omp_get_schedule(unsigned* kind, int* chunk) {
    const Schedule& schedule = controls().schedule;
    *kind = static_cast<unsigned>(schedule.kind) | (schedule.monotonic ? Schedule::monotonic_flag : 0U);
    *chunk = static_cast<int>(schedule.chunk);
}
KUMIKI_ENTRY void omp_get_schedule_(std::uint32_t* kind, std::int32_t* chunk) { omp_get_schedule(kind, chunk); }
KUMIKI_ENTRY void omp_get_schedule_8_(std::uint32_t* kind, std::int64_t* chunk) {
    std::int32_t short_chunk = 0;
    omp_get_schedule(kind, &short_chunk);
    *chunk = short_chunk;
}

namespace {

template <class Number>
void copy_processors(int place, Number* to) {
    const auto& places = process().environment().places;
    if (place >= 0 && static_cast<std::size_t>(place) < places.size())
        std::ranges::copy(places[static_cast<std::size_t>(place)], to);
}
template <class Number>
void copy_partition(Number* to) {
    const Partition partition = self().partition;
    for (int i = 0; i < partition.length; ++i) to[i] = partition.first + i;
}

} // namespace

KUMIKI_ENTRY void omp_get_place_proc_ids(int place, int* to) { copy_processors(place, to); }
KUMIKI_ENTRY void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* to) { copy_processors(*place, to); }
KUMIKI_ENTRY void omp_get_place_proc_ids_8_(const std::int64_t* place, std::int64_t* to) {
    copy_processors(clamped(*place), to);
}
KUMIKI_ENTRY void omp_get_partition_place_nums(int* to) { copy_partition(to); }
KUMIKI_ENTRY void omp_get_partition_place_nums_(std::int32_t* to) { copy_partition(to); }
KUMIKI_ENTRY void omp_get_partition_place_nums_8_(std::int64_t* to) { copy_partition(to); }

KUMIKI_ENTRY void omp_display_env(int verbose) { display(process().environment(), verbose != 0); }
KUMIKI_ENTRY void omp_display_env_(const std::int32_t* verbose) { omp_display_env(*verbose); }
KUMIKI_ENTRY void omp_display_env_8_(const std::int64_t* verbose) { omp_display_env(*verbose != 0 ? 1 : 0); }
