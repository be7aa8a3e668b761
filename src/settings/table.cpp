#include <algorithm>
#include <array>
#include <concepts>
#include <fmt/format.h>

#include "settings/distribution.hpp"
#include "settings/settings.hpp"
#include "text/text.hpp"

namespace kumiki {
namespace {

/// A whole number from `low` to `high`.
template <std::integral T>
Result<T> number(std::string_view text, T low, T high) {
    const auto value = text::number<T>(text);
    if (!value || *value < low || *value > high)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("it must be a whole number from {} to {}", low, high));
    return *value;
}

/// A number of bytes, with an optional K, M, G or T (powers of 1024).
Result<std::uint64_t> bytes(std::string_view text) {
    constexpr std::string_view suffixes = "KMGT";
    int shift = 0;
    if (!text.empty())
        if (const auto found = suffixes.find(text.back()); found != suffixes.npos) {
            shift = 10 * (static_cast<int>(found) + 1);
            text.remove_suffix(1);
        }
    auto value = number<std::uint64_t>(text, 0, std::uint64_t{1} << (62 - shift));
    if (!value) return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be a number of bytes, such as 4096, 64K, 16M or 2G");
    return *value << shift;
}

/// Returns nothing for "tuned".
Result<std::optional<std::uint64_t>> fragment(std::string_view text) {
    if (text == "tuned") return std::nullopt;
    const auto length = bytes(text);
    if (!length) return fail(KUMIKI_ERROR_ENVIRONMENT, length.error().message + ", or tuned");
    return *length;
}

Result<bool> yes_or_no(std::string_view text) {
    if (text == "1" || text == "yes") return true;
    if (text == "0" || text == "no") return false;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be yes or no");
}

/// The names of the policies, in the order of the enumeration.
constexpr std::array<std::string_view, 4> policies = {"adaptive", "spin", "yield", "sleep"};

Result<WaitPolicy> policy(std::string_view text) {
    const auto found = std::ranges::find(policies, text);
    if (found == policies.end()) return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be adaptive, spin, yield or sleep");
    return static_cast<WaitPolicy>(found - policies.begin());
}

Result<Binding> binding(std::string_view text) {
    if (text == "core") return Binding::core;
    if (text == "shared") return Binding::shared;
    if (text == "none") return Binding::none;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be core, shared or none");
}

Result<bool> waits_for_stopped(std::string_view text) {
    if (text == "wait") return true;
    if (text == "end") return false;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be end or wait");
}

Result<CopyHolder> copy_holder(std::string_view text) {
    if (text == "host") return CopyHolder::host;
    if (text == "rank") return CopyHolder::rank;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be host or rank");
}

/// The names of an OpenMP program's homes, in the order of the enumeration.
constexpr std::array<std::string_view, 6> program_homes_names = {"owner",  "first", "block",
                                                                 "cyclic", "next",  "relocated"};

Result<ProgramHomes> program_homes(std::string_view text) {
    const auto found = std::ranges::find(program_homes_names, text);
    if (found == program_homes_names.end())
        return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be first, owner, block, cyclic, next or relocated");
    return static_cast<ProgramHomes>(found - program_homes_names.begin());
}

Result<std::string> loop_schedule(std::string_view text) {
    if (const auto schedule = LoopSchedule::from(text); !schedule) return tl::unexpected(schedule.error());
    return std::string(text);
}

Result<AtomicUpdates> atomic_updates(std::string_view text) {
    if (text == "ordered") return AtomicUpdates::ordered;
    if (text == "adaptive") return AtomicUpdates::adaptive;
    if (text == "gathered") return AtomicUpdates::gathered;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be ordered, adaptive or gathered");
}

Result<RegionRanks> region_ranks(std::string_view text) {
    if (text == "adaptive") return RegionRanks::adaptive;
    if (text == "all") return RegionRanks::all;
    if (text == "first") return RegionRanks::first;
    if (text == "alternating") return RegionRanks::alternating;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be adaptive, all, first or alternating");
}

Result<TaskRanks> task_ranks(std::string_view text) {
    if (text == "all") return TaskRanks::all;
    if (text == "own") return TaskRanks::own;
    if (text == "eager") return TaskRanks::eager;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be all, own or eager");
}

Result<FaultMechanism> fault_mechanism(std::string_view text) {
    if (text == "auto") return FaultMechanism::automatic;
    if (text == "userfaultfd") return FaultMechanism::userfaultfd;
    if (text == "protection") return FaultMechanism::protection;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be auto, userfaultfd or protection");
}

Result<SharedProtocol> shared_protocol(std::string_view text) {
    if (text == "invalidate") return SharedProtocol::invalidate;
    if (text == "update") return SharedProtocol::update;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be invalidate or update");
}

/// 0, or enough for the pages that an instruction of each thread may need at once.
Result<std::uint64_t> cache_bytes(std::string_view text) {
    constexpr std::uint64_t least = std::uint64_t{1} << 20;
    auto length = bytes(text);
    if (length && *length != 0 && *length < least)
        return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be at least 1 MiB (1M), or 0 for no limit");
    return length;
}

/// Whether to check; what a race does to the exit code is the tool's business.
Result<bool> shared_check(std::string_view text) {
    if (text == "fail") return true;
    if (auto known = yes_or_no(text)) return known;
    return fail(KUMIKI_ERROR_ENVIRONMENT, "it must be yes, no or fail");
}

/// Whole numbers from 0 to `high`, separated by commas; `mistake` says what the text must be.
Result<std::vector<int>> number_list(std::string_view text, int high, std::string_view mistake) {
    std::vector<int> numbers;
    for (const std::string_view each : text::split(text, ',')) {
        const auto one = number(each, 0, high);
        if (!one) return fail(KUMIKI_ERROR_ENVIRONMENT, std::string(mistake));
        numbers.push_back(*one);
    }
    return numbers;
}

/// Numbers of processors or devices: "0,2,5"; empty: none.
Result<std::vector<int>> numbers(std::string_view text) {
    if (text.empty()) return std::vector<int>();
    return number_list(text, 1 << 20, "it must be a list of numbers, such as 0,1,2");
}

/// Threads: "4" for all ranks, or "4,2,2" for three ranks.
Result<std::vector<int>> thread_counts(std::string_view text) {
    auto counts = number_list(
        text, most_threads,
        fmt::format("it must be a whole number from 0 to {}, or one for each rank, such as 4,2,2", most_threads));
    if (counts && counts->size() > static_cast<std::size_t>(most_ranks))
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("a job has at most {} ranks", most_ranks));
    return counts;
}

/// Stores a parsed value in its member.
template <class T>
Result<> into(T& member, Result<T> value) {
    if (!value) return tl::unexpected(value.error());
    member = std::move(*value);
    return {};
}

constexpr std::array table = {
    Setting{"KUMIKI_WAIT", "--wait", "adaptive", "adaptive, spin, yield, sleep",
            "How a thread waits: spin (fastest, occupies a core), yield (lets others run), sleep (uses no processor "
            "time), or adaptive: spin (or yield, with more threads than cores) for a while, then sleep.",
            false, [](Settings& s, std::string_view t) { return into(s.wait, policy(t)); }},
    Setting{"KUMIKI_SPIN", "", "300", "us",
            "How long an adaptive wait spins before it sleeps, if there are no more threads than cores.", false,
            [](Settings& s, std::string_view t) { return into(s.spin_us, number<std::int64_t>(t, 0, 1000000000)); }},
    Setting{"KUMIKI_YIELD", "", "200", "us", "How long it yields instead, if there are more threads than cores.", false,
            [](Settings& s, std::string_view t) { return into(s.yield_us, number<std::int64_t>(t, 0, 1000000000)); }},
    Setting{
        "KUMIKI_THREADS", "-t", "0", "threads",
        "Threads per rank: one number for all ranks, or one for each rank (4,2,2); 0: an equal part of the cores of "
        "the host that the other ranks leave.",
        false, [](Settings& s, std::string_view t) { return into(s.threads, thread_counts(t)); }},
    Setting{"KUMIKI_BIND", "--bind", "core", "core, shared, none",
            "Bind each thread to a core of its own if there are enough cores (core), to a core in any case, which it "
            "then shares with others (shared), or to none.",
            false, [](Settings& s, std::string_view t) { return into(s.bind, binding(t)); }},
    Setting{"KUMIKI_NONTEMPORAL", "", "32M", "bytes", "Transfers of at least this length bypass the caches.", false,
            [](Settings& s, std::string_view t) { return into(s.nontemporal_bytes, bytes(t)); }},
    Setting{"KUMIKI_ARENA", "", "0", "bytes",
            "Address space for the regions of one rank; 0: as much as the host has memory.", false,
            [](Settings& s, std::string_view t) { return into(s.arena_bytes, bytes(t)); }},
    Setting{"KUMIKI_FRAGMENT", "--fragment", "tuned", "bytes, tuned",
            "Length of the fragments into which messages are cut and which are copied one by one; 0: the library's own "
            "rule; tuned: that rule, but for long messages the length that `kumiki tune` measured on this machine.",
            false, [](Settings& s, std::string_view t) { return into(s.fragment_bytes, fragment(t)); }},
    Setting{"KUMIKI_RESERVE", "", "32M", "bytes",
            "Memory of each rank for long messages of ranks of its host that arrive while it computes and before their "
            "receive is posted; 0: they stay at their sender, which waits.",
            false, [](Settings& s, std::string_view t) { return into(s.reserve_bytes, bytes(t)); }},
    Setting{"KUMIKI_TRACE", "--trace", "", "file",
            "Where to write a timeline of what every thread did (Trace Event Format, for Perfetto); empty: nowhere.",
            false, [](Settings& s, std::string_view t) { return into(s.trace, Result<std::string>(std::string(t))); }},
    Setting{"KUMIKI_EXPLAIN", "", "", "folder",
            "Where every rank records what shared memory costs it, for `kumiki run --explain`, which names a folder of "
            "its own; empty: nowhere.",
            false, [](Settings&, std::string_view) { return Result<>{}; }}, // read by explain_folder()
    Setting{"KUMIKI_PIN", "", "no", "yes, no", "Lock regions in memory, so that they are never paged out.", false,
            [](Settings& s, std::string_view t) { return into(s.pin, yes_or_no(t)); }},
    Setting{"KUMIKI_PREFIX", "", "", "folder",
            "Where the Python tool finds the native programs, if they are not installed beside it.", false,
            [](Settings& s, std::string_view t) { return into(s.native_prefix, Result<std::string>(std::string(t))); }},
    Setting{"KUMIKI_INTERFACE", "--interface", "", "name",
            "The network interface between hosts, such as eth0; empty: the one that reaches the other hosts.", false,
            [](Settings& s, std::string_view t) { return into(s.interface, Result<std::string>(std::string(t))); }},
    Setting{"KUMIKI_TIMEOUT", "", "10", "s",
            "How long a host may send no heartbeat before the others give it up and end the job.", false,
            [](Settings& s, std::string_view t) { return into(s.timeout_s, number(t, 1, 86400)); }},
    Setting{"KUMIKI_STOPPED", "", "end", "end, wait",
            "What happens when a rank of the job has been stopped (SIGSTOP) for KUMIKI_TIMEOUT seconds: the job ends, "
            "or waits until the rank is continued. It always waits for a rank that a debugger holds, and if it is "
            "stopped as a whole (Ctrl-Z).",
            false, [](Settings& s, std::string_view t) { return into(s.wait_for_stopped, waits_for_stopped(t)); }},
    Setting{"KUMIKI_SHARED_COPIES", "", "host", "host, rank",
            "What holds a copy of the pages of shared arrays: the ranks of one host map the same memory (host), or "
            "each rank has a copy of its own, as if it were alone on its host (rank; for tests and measurements). In a "
            "job on several hosts each rank has a copy of its own in either case.",
            false, [](Settings& s, std::string_view t) { return into(s.shared_copies, copy_holder(t)); }},
    Setting{"KUMIKI_SHARED_FAULTS", "", "auto", "auto, userfaultfd, protection",
            "How accesses to pages of shared arrays that are not here are detected: by userfaultfd, by the protection "
            "of memory (mprotect), or by userfaultfd where the system allows it (auto).",
            false, [](Settings& s, std::string_view t) { return into(s.shared_faults, fault_mechanism(t)); }},
    Setting{"KUMIKI_HOMES", "--homes", "first", "first, owner, block, cyclic, next, relocated",
            "Where the pages of an OpenMP program are that runs as several processes. first: where they are touched "
            "first, and from there, if that was outside of regions, at the rank that alone keeps writing to them; "
            "next: where they are touched first after the first parallel region has begun; owner: where they were "
            "allocated, and variables at rank 0; relocated: where they are touched first, then always at such a rank;"
            " block, cyclic: distributed.",
            false, [](Settings& s, std::string_view t) { return into(s.homes, program_homes(t)); }},
    Setting{"KUMIKI_OPENMP_SCHEDULE", "--schedule", "threads", "threads, measured, monotonic, affinity:NAME[ROWS]",
            "Which iterations each process of an OpenMP program begins with, in loops that the runtime deals out. "
            "threads: in proportion to its threads; measured: in proportion to what it has done of such loops before; "
            "monotonic: all take from one part, so each thread's iterations rise, as some programs expect; "
            "affinity: iteration i goes to the home of row i of variable NAME (NAME[LOW:HIGH] if the rows are not 0 to "
            "ROWS - 1).",
            false, [](Settings& s, std::string_view t) { return into(s.openmp_schedule, loop_schedule(t)); }},
    Setting{
        "KUMIKI_OPENMP_ATOMICS", "--atomics", "adaptive", "ordered, adaptive, gathered",
        "How an OpenMP program over several processes updates a variable atomically where it does not use the result "
        "(x += 1, not y = x += 1). ordered: at once, and in order with other memory, as the processor's instructions "
        "do; gathered: in the process's own copy, and in the variable when the thread next synchronises. That is much "
        "faster, and right where OpenMP's atomic construct is enough, without seq_cst, release and acquire. adaptive: "
        "ordered, but gathered by a thread that has made many updates and synchronises rarely.",
        false, [](Settings& s, std::string_view t) { return into(s.openmp_atomics, atomic_updates(t)); }},
    Setting{
        "KUMIKI_OPENMP_REGIONS", "--regions", "adaptive", "adaptive, all, first, alternating",
        "On which hosts the parallel regions of an OpenMP program run. all: on all of them; first: on the first one "
        "alone, with as many threads; adaptive: on all, but on the first one alone where that turns out to be "
        "faster, because messages between the hosts take longer than the work; alternating: region by region the "
        "one and the other, for tests.",
        false, [](Settings& s, std::string_view t) { return into(s.openmp_regions, region_ranks(t)); }},
    Setting{"KUMIKI_OPENMP_TASKS", "--tasks", "all", "all, own, eager",
            "Which processes execute the tasks of an OpenMP program, in parallel regions that run on all hosts. all: "
            "whichever has nothing else to do, unless they are too short for that; own: the one that creates them; "
            "eager: as all, however short they are, for tests.",
            false, [](Settings& s, std::string_view t) { return into(s.openmp_tasks, task_ranks(t)); }},
    Setting{
        "KUMIKI_OPENMP_LIBRARIES", "--libraries", "", "names",
        "Libraries of an OpenMP program that share their variables and heap with it over several processes, besides "
        "those that use OpenMP: the beginnings of their files' names, up to a dot, separated by commas "
        "(libparasail,libxml2); all: every library but those that start threads, and those of MPI, networks, displays "
        "and devices.",
        false,
        [](Settings& s, std::string_view t) { return into(s.openmp_libraries, Result<std::string>(std::string(t))); }},
    Setting{
        "KUMIKI_SHARED_PROTOCOL", "", "invalidate", "invalidate, update",
        "What a barrier does with copies of pages of shared arrays that other ranks have written, where the program "
        "does not say: drop them (invalidate), or bring them up to date (update). Copies of the memory of OpenMP "
        "programs and of the heap are always dropped.",
        false, [](Settings& s, std::string_view t) { return into(s.shared_protocol, shared_protocol(t)); }},
    Setting{"KUMIKI_SHARED_CACHE", "", "0", "bytes",
            "How many bytes of other ranks' pages of shared arrays the ranks of a host hold together; further pages "
            "take the place of the oldest ones. 0: as many as they use.",
            false, [](Settings& s, std::string_view t) { return into(s.shared_cache, cache_bytes(t)); }},
    Setting{
        "KUMIKI_SHARED_CHECK", "", "no", "yes, no, fail",
        "Find bytes of shared arrays, or of an OpenMP program's memory, that two ranks wrote with no barrier and no "
        "lock between (yes), and let `kumiki run` then end with code 66 (fail). Each rank has a copy of its own, "
        "as with KUMIKI_SHARED_COPIES=rank; the program is slower.",
        false, [](Settings& s, std::string_view t) { return into(s.shared_check, shared_check(t)); }},
    Setting{"KUMIKI_SHARED_HEAP", "", "256M", "bytes",
            "Memory from which kumiki_shared_malloc takes blocks, for all ranks together; each rank has an equal part. "
            "It is reserved with the first shared array, and used as far as blocks are; at most a quarter of the arena "
            "and of the memory that the host has left. 0: none.",
            false, [](Settings& s, std::string_view t) { return into(s.shared_heap, bytes(t)); }},
    Setting{"KUMIKI_RANK", "", "0", "", "This rank's number.", true,
            [](Settings& s, std::string_view t) { return into(s.rank, number(t, 0, most_ranks - 1)); }},
    Setting{"KUMIKI_SIZE", "", "1", "", "The number of ranks.", true,
            [](Settings& s, std::string_view t) { return into(s.size, number(t, 1, most_ranks)); }},
    Setting{"KUMIKI_LOCAL_RANK", "", "0", "", "This rank's number among those of its host.", true,
            [](Settings& s, std::string_view t) { return into(s.local_rank, number(t, 0, most_ranks - 1)); }},
    Setting{"KUMIKI_LOCAL_SIZE", "", "0", "", "The number of ranks on this host; 0: all ranks of the job.", true,
            [](Settings& s, std::string_view t) { return into(s.local_size, number(t, 0, most_ranks)); }},
    Setting{"KUMIKI_HOST", "", "", "", "The name of this rank's host in messages.", true,
            [](Settings& s, std::string_view t) { return into(s.host, Result<std::string>(std::string(t))); }},
    Setting{
        "KUMIKI_NETWORK_DEVICES", "", "", "",
        "The network devices that reach the other hosts, if KUMIKI_INTERFACE names none.", true,
        [](Settings& s, std::string_view t) { return into(s.network_devices, Result<std::string>(std::string(t))); }},
    Setting{"KUMIKI_SEGMENT", "", "-1", "", "The file descriptor of the memory that the ranks of this host share.",
            true, [](Settings& s, std::string_view t) { return into(s.segment, number(t, -1, 1 << 30)); }},
    Setting{"KUMIKI_WIREUP", "", "-1", "",
            "The file descriptor of the socket through which ranks on several hosts find each other.", true,
            [](Settings& s, std::string_view t) { return into(s.wireup, number(t, -1, 1 << 30)); }},
    Setting{"KUMIKI_OUTPUT_MARKS", "", "-1", "",
            "The file descriptor of the socket through which this rank asks for the place of its output.", true,
            [](Settings& s, std::string_view t) { return into(s.output_marks, number(t, -1, 1 << 30)); }},
    Setting{"KUMIKI_OUTPUT_UNREAD", "", "-1", "",
            "The file descriptor of the epoll that is ready while the launcher has not read all output of this rank.",
            true, [](Settings& s, std::string_view t) { return into(s.output_unread, number(t, -1, 1 << 30)); }},
    Setting{"KUMIKI_JOB_THREADS", "", "0", "",
            "The number of threads of every rank of the job, in order; a single number stands for all ranks.", true,
            [](Settings& s, std::string_view t) { return into(s.job_threads, thread_counts(t)); }},
    Setting{"KUMIKI_OPENMP_HOMES", "", "", "",
            "The variables of an OpenMP program that --map and --schedule name, by address and length in base 16.",
            true,
            [](Settings& s, std::string_view t) { return into(s.openmp_homes, Result<std::string>(std::string(t))); }},
    Setting{"KUMIKI_CPUS", "", "", "", "The processors of this rank's threads, in order; empty: not bound.", true,
            [](Settings& s, std::string_view t) { return into(s.cpus, numbers(t)); }},
    Setting{"KUMIKI_CROWDED", "", "no", "", "Whether the job has more threads on this host than there are cores.", true,
            [](Settings& s, std::string_view t) { return into(s.crowded, yes_or_no(t)); }},
    Setting{"KUMIKI_DEVICES", "", "", "",
            "The accelerators of this rank, by their numbers in `kumiki topology`; empty: none have been assigned.",
            true, [](Settings& s, std::string_view t) { return into(s.devices, numbers(t)); }},
};

} // namespace

std::span<const Setting> settings_table() { return table; }

} // namespace kumiki
