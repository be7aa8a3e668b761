// openmp-overhead: what the constructs of OpenMP cost: the times of those that contain nothing. It measures the runtime
// on which it is started: libgomp, or Kumiki's by `kumiki run --openmp`.
#include <dlfcn.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/contest.hpp"

namespace kumiki::bench {
namespace {

/// The body of the constructs, which the compiler must keep. It does nothing: a time from which another one must be
/// subtracted would be negative whenever a disturbance meets the other one.
void nothing() { __asm__ __volatile__("" ::: "memory"); }

/// A construct; `run(n)` executes it n times in each thread, or n times together if threads take turns.
struct Construct {
    const char* name;
    void (*run)(std::uint64_t count, int threads);
};

const Construct constructs[] = {
    {"parallel",
     [](std::uint64_t count, int) {
         for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp parallel
             nothing();
         }
     }},
    {"reduction",
     [](std::uint64_t count, int) {
         for (std::uint64_t i = 0; i < count; ++i) {
             long sum = 0;
#pragma omp parallel reduction(+ : sum)
             {
                 nothing();
                 sum += 1;
             }
         }
     }},
    {"for",
     [](std::uint64_t count, int threads) {
#pragma omp parallel
         for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp for
             for (int part = 0; part < threads; ++part) nothing();
         }
     }},
    {"barrier",
     [](std::uint64_t count, int) {
#pragma omp parallel
         for (std::uint64_t i = 0; i < count; ++i) {
             nothing();
#pragma omp barrier
         }
     }},
    {"single",
     [](std::uint64_t count, int) {
#pragma omp parallel
         for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp single
             nothing();
         }
     }},
    {"critical",
     [](std::uint64_t count, int threads) {
#pragma omp parallel
         for (std::uint64_t i = 0; i < count / static_cast<unsigned>(threads); ++i) {
#pragma omp critical
             nothing();
         }
     }},
    {"lock",
     [](std::uint64_t count, int threads) {
         omp_lock_t lock;
         omp_init_lock(&lock);
#pragma omp parallel
         for (std::uint64_t i = 0; i < count / static_cast<unsigned>(threads); ++i) {
             omp_set_lock(&lock);
             nothing();
             omp_unset_lock(&lock);
         }
         omp_destroy_lock(&lock);
     }},
    {"ordered",
     [](std::uint64_t count, int) {
#pragma omp parallel for ordered schedule(static, 1)
         for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp ordered
             nothing();
         }
     }},
    {"atomic",
     [](std::uint64_t count, int) {
         double sum = 0;
#pragma omp parallel
         for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp atomic
             sum += 1;
         }
     }},
    {"dynamic",
     [](std::uint64_t count, int threads) {
#pragma omp parallel for schedule(dynamic, 1)
         for (std::uint64_t i = 0; i < count * static_cast<unsigned>(threads); ++i) nothing();
     }},
    {"task",
     [](std::uint64_t count, int threads) {
#pragma omp parallel
#pragma omp master
         for (std::uint64_t i = 0; i < count * static_cast<unsigned>(threads); ++i) {
#pragma omp task
             nothing();
         }
     }},
    {"taskwait",
     [](std::uint64_t count, int) {
#pragma omp parallel
         for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp task
             nothing();
#pragma omp taskwait
         }
     }},
};

/// The runtime in which a function of OpenMP is found: kumiki, or openmp for any other.
const char* runtime() {
    Dl_info found{};
    dladdr(reinterpret_cast<void*>(&omp_get_wtime), &found);
    const std::string_view file = found.dli_fname != nullptr ? found.dli_fname : "";
    return file.find("libkumiki-openmp") != file.npos ? "kumiki" : "openmp";
}

template <class Run>
double seconds_of(Run run) {
    const auto start = Clock::now();
    run();
    return seconds_since(start);
}

int measure_all(int threads, const Budget& budget) {
    omp_set_num_threads(threads);
    Alone world{threads > omp_get_num_procs()};
    std::vector<Contestant> contestants;
    for (const Construct& construct : constructs) {
        const auto seconds = [=](std::uint64_t count) { return seconds_of([&] { construct.run(count, threads); }); };
        const std::uint64_t count = calibrate(world, seconds);
        const auto take = [=] { return Sample{seconds(count) / static_cast<double>(count) * 1e6, true}; };
        Row row{
            .metric = "openmp.overhead", .implementation = runtime(), .parameters = {}, .unit = "us", .samples = {}};
        row.parameters = {{"construct", construct.name}, {"threads", std::int64_t{threads}}};
        contestants.push_back({std::move(row), take});
    }
    return contest(world, std::move(contestants), budget);
}

int run(int argc, char** argv) {
    int threads = 2;
    Budget budget;
    CLI::App program{"Measures what OpenMP's constructs cost on the runtime on which it is started."};
    program.add_option("--threads", threads, "number of threads")->check(CLI::Range(1, 4096))->capture_default_str();
    budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded("openmp-overhead", [&] { return measure_all(threads, budget); });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) { return kumiki::bench::run(argc, argv); }
