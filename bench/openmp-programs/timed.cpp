// Times the solutions of a small OpenMP program (program.h), checks each of them, and prints a row.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "bench/common/openmp_runtime.hpp"
#include "bench/openmp-programs/program.h"
#include "measure/program.hpp"
#include "measure/row.hpp"
#include "measure/sampling.hpp"

namespace kumiki::bench {
namespace {

using measure::Budget;
using measure::Clock;
using measure::Row;

struct Solution {
    double seconds;
    bool right;
};

Solution solve() {
    const auto start = Clock::now();
    program_solve();
    const double seconds = measure::seconds_since(start);
    return {seconds, program_is_right() != 0};
}

int measure_program(const std::string& variant, int threads, const Budget& budget) {
    omp_set_num_threads(threads);
    if (program_prepare(variant.c_str()) == 0) {
        std::cerr << KUMIKI_OPENMP_PROGRAM << ": it has no variant '" << variant << "'\n";
        return measure::usage;
    }
    Row row{.metric = "openmp.time",
            .implementation = openmp_runtime(),
            .parameters = {{"program", KUMIKI_OPENMP_PROGRAM}, {"threads", std::int64_t{threads}}},
            .unit = "s",
            .samples = {},
            .validated = true,
            .oversubscribed = threads > omp_get_num_procs()};
    if (!variant.empty()) row.parameters["variant"] = variant;
    solve();
    for (const auto start = Clock::now();
         budget.wants_more(row.samples.size(), start, [&row] { return settled(row); });) {
        const Solution solution = solve();
        row.samples.push_back(solution.seconds);
        row.validated = *row.validated && solution.right;
    }
    print(std::cout, row);
    return *row.validated ? measure::success : measure::validation_failed;
}

int run(int argc, char** argv) {
    int threads = 2;
    std::string variant;
    Budget budget;
    CLI::App program{"Times a small OpenMP program on the runtime on which it is started."};
    program.add_option("--threads", threads, "number of threads of all processes")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    program.add_option("--variant", variant, "the variant of the program, if it has several");
    budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded(KUMIKI_OPENMP_PROGRAM, [&] { return measure_program(variant, threads, budget); });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) { return kumiki::bench::run(argc, argv); }
