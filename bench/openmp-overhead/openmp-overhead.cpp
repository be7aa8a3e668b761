// openmp-overhead: what the constructs of OpenMP cost: the time of constructs around a short delay, without the time of
// the delays. It measures the runtime on which it is started: libgomp, libomp (loaded before it), or Kumiki's by
// `kumiki run --openmp`, which may be several processes.
#include <CLI/CLI.hpp>
#include <atomic>
#include <vector>

#include "bench/common/contest.hpp"
#include "bench/common/openmp_runtime.hpp"
#include "bench/openmp-overhead/constructs.hpp"

namespace kumiki::bench {
namespace {

constexpr double delay_seconds = 0.1e-6;
/// What does not matter of a difference of two times, in us.
constexpr double resolution = 0.005;
/// How often constructs are executed to see whether they do what they should.
constexpr std::uint64_t checked = 12;

/// The body: it takes `delay_seconds`, and touches no memory, so that compilers load `steps` before the constructs' own
/// loops; the runtime would take a loop that does nothing but look at a variable for one that waits.
struct Delay {
    std::uint64_t steps;

    void operator()() const {
        for (std::uint64_t i = 0; i < steps; ++i) __asm__ __volatile__("" : "+r"(i));
    }
};

template <class Run>
double seconds_of(Run run) {
    const auto start = Clock::now();
    run();
    return seconds_since(start);
}

/// The shortest of a few times says how many steps the delay has: longer ones were disturbed.
Delay calibrated_delay() {
    constexpr std::uint64_t steps = 1 << 20;
    double shortest = 1;
    for (int i = 0; i < 5; ++i) shortest = std::min(shortest, seconds_of(Delay{steps}));
    return {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(delay_seconds / shortest * steps))};
}

/// Whether the bodies are executed as often as they should, in exclusive constructs one at a time: then additions that
/// are not atomic lose nothing.
template <class Construct>
bool is_right(int threads) {
    const std::uint64_t count = checked * static_cast<unsigned>(threads);
    std::uint64_t alone = 0;
    std::atomic<std::uint64_t> together = 0;
    if constexpr (Construct::exclusive) Construct::run(count, threads, [&alone] { alone = alone + 1; });
    else Construct::run(count, threads, [&together] { together.fetch_add(1); });
    return (Construct::exclusive ? alone : together.load()) == Construct::times(count, threads);
}

template <class Construct>
Contestant contestant(const char* metric, int threads, Delay delay) {
    Alone world{threads > omp_get_num_procs()};
    const auto counted = [=](std::uint64_t count) { return count * static_cast<unsigned>(threads); };
    const auto seconds = [=](std::uint64_t count) {
        return seconds_of([=] { Construct::run(counted(count), threads, delay); });
    };
    const bool right = is_right<Construct>(threads);
    const std::uint64_t batch = calibrate(world, seconds), count = counted(batch);
    const auto take = [=] {
        const double whole = seconds(batch);
        const double work = seconds_of([=] {
            for (std::uint64_t i = 0; i < Construct::work(count, threads); ++i) delay();
        });
        return Sample{(whole - work) / static_cast<double>(count) * 1e6, right};
    };
    Row row{.metric = metric, .implementation = openmp_runtime(), .parameters = {}, .unit = "us", .samples = {}};
    row.parameters = {{"construct", Construct::name}, {"threads", std::int64_t{threads}}};
    row.resolution = resolution;
    return {std::move(row), take};
}

template <class... Constructs>
int measure_all(const char* metric, int threads, const Budget& budget) {
    omp_set_num_threads(threads);
    const Delay delay = calibrated_delay();
    Alone world{threads > omp_get_num_procs()};
    return contest(world, {contestant<Constructs>(metric, threads, delay)...}, budget);
}

int run(int argc, char** argv) {
    int threads = 2;
    bool only_fork_join = false;
    Budget budget;
    CLI::App program{"Measures what OpenMP's constructs cost on the runtime on which it is started."};
    program.add_option("--threads", threads, "number of threads of all processes")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    program.add_flag("--fork-join", only_fork_join, "only parallel and barrier, as rows of openmp.fork_join");
    budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded("openmp-overhead", [&] {
        if (only_fork_join) return measure_all<Parallel, Barrier>("openmp.fork_join", threads, budget);
        return measure_all<Parallel, Reduction, For, Barrier, Single, Critical, Lock, Ordered, Doacross, Atomic,
                           Dynamic, Task, TaskWait>("openmp.overhead", threads, budget);
    });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) { return kumiki::bench::run(argc, argv); }
