// wait-cpu: the processor time that a rank uses while it waits for a signal, and how soon it continues after the
// signal. The waiting policy is that of kumiki-run's --wait.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/bare_barrier.hpp"
#include "bench/common/clocks.hpp"
#include "bench/common/job_world.hpp"
#include "bench/common/contest.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

struct Options {
    double delay = 0.2;
    Budget budget{.samples = 20, .seconds = 2};
};

/// The first part of a wait, during which the adaptive policy still spins.
constexpr double patience = 10e-3;

/// The time of the host, and the processor time of all threads of this process.
struct Moment {
    std::uint64_t host = nanoseconds(CLOCK_MONOTONIC);
    std::uint64_t processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
};

double percent(const Moment& from, const Moment& to) {
    return 100 * static_cast<double>(to.processor - from.processor) / static_cast<double>(to.host - from.host);
}

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// One wait of rank 1 for rank 0; the figures are taken at rank 1.
struct Observation {
    double whole = 0, after_patience = 0; ///< percent of one core
    double wake_up = 0;                   ///< us from the signal to the return of the wait
};

Observation observe(Job& job, Signal& signal, double delay) {
    if (job.rank() == 0) {
        pause(delay);
        // The value of the signal is the time at which it was raised.
        job.signal(1, signal, nanoseconds(CLOCK_MONOTONIC));
        return {};
    }
    const Moment start;
    Moment later = start;
    std::thread observer([&later] {
        pause(patience);
        later = Moment();
    });
    const std::uint64_t raised = job.wait(signal, Comparison::not_equal, 0);
    const Moment end;
    observer.join();
    signal = 0;
    return {percent(start, end), percent(later, end), static_cast<double>(end.host - raised) * 1e-3};
}

std::vector<Row> rows(const std::string& policy) {
    const auto row = [&policy](const char* metric, const char* unit) {
        Row made{.metric = metric, .implementation = "kumiki", .parameters = {}, .unit = unit, .samples = {}};
        made.parameters = {{"ranks", std::int64_t{2}}, {"policy", policy}};
        return made;
    };
    std::vector<Row> made{row("wait.cpu", "%"), row("wait.cpu", "%"), row("wait.wakeup", "us")};
    made[0].resolution = made[1].resolution = measure::one_point;
    made[0].parameters["after_ms"] = std::int64_t{0};
    made[1].parameters["after_ms"] = static_cast<std::int64_t>(patience * 1e3);
    return made;
}

int measure_all(const Options& options) {
    Job job;
    need_two_ranks(job);
    JobWorld world(job);
    auto signals = job.allocate<Flag>(1);
    const char* policy = std::getenv("KUMIKI_WAIT");
    std::vector<Row> made = rows(policy == nullptr ? "adaptive" : policy);

    const auto take = [&] {
        job.barrier();
        const Observation seen = observe(job, signals[0].word, options.delay);
        return Observation{world.largest(seen.whole), world.largest(seen.after_patience), world.largest(seen.wake_up)};
    };
    const auto fill = [&made](std::span<const Observation> seen) {
        made[0].samples = measure::figures_of(seen, [](const Observation& each) { return each.whole; });
        made[1].samples = measure::figures_of(seen, [](const Observation& each) { return each.after_patience; });
        made[2].samples = measure::figures_of(seen, [](const Observation& each) { return each.wake_up; });
    };
    const auto all_settled = [&](std::span<const Observation> seen) {
        fill(seen);
        return std::ranges::all_of(made, [](const Row& row) { return settled(row); });
    };
    const auto agree = [&](bool more) { return world.broadcast(more) != 0; };
    fill(measure::sample_until(options.budget, take, all_settled, agree));
    for (Row& row : made) {
        row.oversubscribed = job.oversubscribed();
        if (job.rank() == 0) print(std::cout, row);
    }
    return measure::success;
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    bench::Options options;
    CLI::App program{
        "Measures what a waiting rank costs: percent of a core while it waits, and us from the signal to its return."};
    program.add_option("--delay", options.delay, "seconds until the signal is raised")
        ->check(CLI::Range(0.02, 600.0))
        ->capture_default_str();
    options.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded("wait-cpu", [&] { return bench::measure_all(options); });
}
