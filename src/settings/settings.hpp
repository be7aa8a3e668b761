#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"

namespace kumiki {

inline constexpr int most_ranks = 4096;   ///< of a job
inline constexpr int most_threads = 4096; ///< of a rank

/// The processors on which a thread may run: one of its own if there are enough, one that it may share with others, or
/// any of its rank.
enum class Binding { core, shared, none };

/// How a thread waits (src/wait/).
enum class WaitPolicy { adaptive, spin, yield, sleep };

/// What holds a copy of the pages of shared arrays: a host, whose ranks then share it, or each rank.
enum class CopyHolder { host, rank };

/// How accesses to pages of shared arrays that are not here are detected.
enum class FaultMechanism { automatic, userfaultfd, protection };

/// Which rank is the home of the pages of an OpenMP program that runs as several processes: of its variables and heap.
enum class ProgramHomes {
    owner,     ///< the rank that allocates the memory; rank 0 for variables
    first,     ///< the rank that touches a page first
    block,     ///< a run of pages each
    cyclic,    ///< page after page to one rank after the other
    next,      ///< the rank that touches a page first after the first parallel region has begun
    relocated, ///< as first; and a page moves to a rank that keeps writing to it, if nobody else does
};

/// Which ranks run the parallel regions of an OpenMP program.
enum class RegionRanks {
    all,
    first,       ///< alone, with as many threads
    adaptive,    ///< all, or the first one alone where that turns out to be faster
    alternating, ///< region by region all, or the first one alone; for tests
};

/// Which ranks execute the tasks of an OpenMP program, in regions that all ranks run.
enum class TaskRanks {
    all,   ///< whichever has nothing to do
    own,   ///< the one that creates the task
    eager, ///< as all, but also tasks that are too short for it; for tests
};

/// How ranks update variables of an OpenMP program atomically where it does not use the result.
enum class AtomicUpdates {
    ordered,  ///< at once, each as a lock of all ranks
    adaptive, ///< the same, but gathered by a thread that makes many, and synchronises rarely
    gathered, ///< in the rank's copy, until it releases
};

/// What a barrier does with copies of pages of shared arrays that others have written.
enum class SharedProtocol { invalidate, update };

/// The values of all settings, read from the environment.
struct Settings {
    WaitPolicy wait = WaitPolicy::adaptive;
    std::int64_t spin_us = 0;
    std::int64_t yield_us = 0;
    std::uint64_t nontemporal_bytes = 0;
    std::uint64_t arena_bytes = 0;
    std::optional<std::uint64_t>
        fragment_bytes; ///< of messages; 0: the library's own rule; nothing: the length that `kumiki tune` has found
    std::uint64_t reserve_bytes = 0; ///< for long messages whose receive is not posted yet
    bool pin = false;
    Binding bind = Binding::core;
    std::vector<int> threads = {0}; ///< one number for all ranks, or one for each; 0: the rank's share of the cores
    std::string native_prefix;
    std::string trace;             ///< a file; empty: none
    std::string interface;         ///< of the network, by name; empty: any
    int timeout_s = 0;             ///< after this many seconds without a heartbeat a host is lost
    bool wait_for_stopped = false; ///< also for ranks that are stopped for longer than that
    CopyHolder shared_copies = CopyHolder::host;
    FaultMechanism shared_faults = FaultMechanism::automatic;
    ProgramHomes homes = ProgramHomes::first;
    std::string openmp_schedule; ///< how loops that the runtime deals out are divided among the ranks
    AtomicUpdates openmp_atomics = AtomicUpdates::adaptive;
    RegionRanks openmp_regions = RegionRanks::adaptive;
    TaskRanks openmp_tasks = TaskRanks::all;
    std::string openmp_libraries; ///< names of libraries that are part of the program, separated by commas
    SharedProtocol shared_protocol = SharedProtocol::invalidate; ///< of arrays for which the program chooses none
    std::uint64_t shared_heap = 0;  ///< bytes from which single ranks allocate shared memory, of all ranks together
    std::uint64_t shared_cache = 0; ///< bytes of other ranks' pages that a host holds; 0: any number
    bool shared_check = false;      ///< look for races between ranks; then each rank has a copy of its own

    // The launcher sets these for a rank; they are not for users.
    int rank = 0;
    int size = 1;
    int local_rank = 0;          ///< among the ranks of this host
    int local_size = 0;          ///< ranks on this host; 0: all
    std::string host;            ///< this host's name; empty: the name that the system gives it
    std::string network_devices; ///< that reach the other hosts (eth0,mlx5_0:1), if no interface is named
    int segment = -1;            ///< file descriptor of the memory that the ranks of this host share; -1: no launcher
    int wireup = -1; ///< file descriptor of the socket through which the ranks of all hosts find each other; -1: none
    int output_marks = -1, output_unread = -1; ///< file descriptors for the order of output (OutputRelay); -1: none
    std::vector<int> job_threads = {0};        ///< of all ranks: one number, or one for each; 0: set by no launcher
    std::vector<int> cpus;
    bool crowded = false;
    std::string openmp_homes; ///< of parts of the program's variables (openmp/ranks/home_map.hpp)
    std::vector<int> devices; ///< accelerators of this rank, as kumiki-topology numbers them

    /// The number for `rank` in `list`, which contains one number for all ranks or one for each; 0 if there is none.
    static int of_rank(const std::vector<int>& list, int rank) {
        const auto place = list.size() == 1 ? 0 : static_cast<std::size_t>(rank);
        return place < list.size() ? list[place] : 0;
    }
};

/// One line of the table of settings.
struct Setting {
    std::string_view name;     ///< the environment variable
    std::string_view option;   ///< the option of kumiki-run, or empty
    std::string_view fallback; ///< the default, as text
    std::string_view unit;     ///< the unit or the choices
    std::string_view help;
    bool internal; ///< set by the launcher for its ranks, not by users
    Result<> (*assign)(Settings& settings, std::string_view text);
};

/// The one table of settings, from which the environment, the command line and the documentation are all derived.
std::span<const Setting> settings_table();

/// Reads every setting from `environment` ("NAME=value" entries, as in environ). A value that cannot be parsed is a
/// Failure that names the variable, its value, and the valid values.
Result<Settings> read_settings(const char* const* environment);

/// A sentence for each variable in `environment` that begins with KUMIKI_ but is not a setting, with the most similar
/// setting's name.
std::vector<std::string> unknown_settings(const char* const* environment);

/// The table as a Markdown document (docs/settings.md).
std::string settings_as_markdown();

} // namespace kumiki
