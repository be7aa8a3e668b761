#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "openmp/allocators.hpp"

/// What OpenMP calls internal control variables, and the environment from which they come.
namespace kumiki::openmp {

/// How the iterations of a loop are dealt out; the numbers are those of omp_sched_t.
enum class Kind : unsigned { fixed = 1, dynamic = 2, guided = 3, automatic = 4 };

struct Schedule {
    static constexpr unsigned monotonic_flag = 0x80000000U; ///< in omp_sched_t

    Kind kind = Kind::dynamic;
    bool monotonic = false;
    std::uint64_t chunk = 1; ///< 0: none is given

    /// Whether threads take chunks when they want some.
    bool is_shared_out() const { return kind == Kind::dynamic || kind == Kind::guided; }
    bool operator==(const Schedule&) const = default;
};

/// How threads are bound to places; the numbers are those of omp_proc_bind_t.
enum class Bind : unsigned { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

inline constexpr int no_limit = std::numeric_limits<int>::max();

/// The number by which OpenMP names this host (omp_initial_device).
inline constexpr int initial_device = -1;
/// The device that no construct may name (omp_invalid_device).
inline constexpr int invalid_device = -4;
/// The number by which a construct names the default device (omp_default_device of OpenMP 6.0).
inline constexpr int default_device = -5;

/// The variables of which each task has its own; a new task gets those of its parent.
struct Controls {
    int threads = 1; ///< of the next parallel region
    int max_active_levels = 1;
    int thread_limit = no_limit; ///< of the threads that an initial thread leads, itself among them
    int default_device = 0;
    int teams_thread_limit = 0;
    unsigned team_number = 0, last_team = 0; ///< of the league in which the task is
    bool dynamic = false;
    Bind bind = Bind::no;
    Schedule schedule;
    bool has_schedule = false; ///< somebody has chosen it
    AllocatorHandle allocator = default_allocator;

    bool operator==(const Controls&) const = default;
};

using Place = std::vector<int>; ///< processors

enum class Display { no, yes, verbose };

/// How threads wait, if the program's user says so.
enum class WaitWish { none, active, passive };

/// What the environment says, for the whole process.
struct Environment {
    Controls controls;        ///< of the initial task
    std::vector<int> threads; ///< by nesting level; empty: not given
    std::vector<Bind> binds;  ///< by nesting level; empty: not given
    int max_task_priority = 0;
    int num_teams = 0;
    std::size_t stack_bytes = 0; ///< 0: the system's default
    WaitWish wait = WaitWish::none;
    bool cancellation = false;
    Display display = Display::no;
    bool display_affinity = false;
    std::string affinity_format = "level %L thread %i affinity %A";
    std::string target_offload = "DEFAULT";
    bool needs_device() const { return target_offload == "MANDATORY"; } ///< for target constructs; there is none
    Allocator allocator;                                                ///< allocator_of_environment
    std::vector<Place> places;
    std::vector<int> cpus; ///< those that the process may run on
};

inline constexpr int most_active_levels = 255;

/// Reads the OMP_ variables. A value that is not usable is reported in a sentence on standard error, and ignored, as
/// programs expect of an OpenMP runtime.
Environment read_environment();

/// Prints what OMP_DISPLAY_ENV and omp_display_env() ask for on standard error.
void display(const Environment& environment, bool verbose);

} // namespace kumiki::openmp
