#include "bench/routines/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "measure/program.hpp"

namespace kumiki::bench {

RoutineOptions RoutineOptions::parse(int argc, char** argv) {
    RoutineOptions options;
    CLI::App program{
        "Measures the routines that send a message, along a chain of ranks: the bandwidth of each by size."};
    const auto add_size = [&program](const char* name, std::size_t& size, const char* what) {
        program.add_option(name, size, what)
            ->transform(CLI::AsSizeValue(false))
            ->check(CLI::Range(sizeof(double), std::size_t{1} << 30)) // MPI counts bytes in an int
            ->capture_default_str();
    };
    add_size("--smallest", options.smallest, "the shortest message in bytes, e.g. 1KiB; the others double");
    add_size("--largest", options.largest, "the longest message in bytes, e.g. 32MiB");
    program.add_option("--calls", options.calls, "calls for each sample, and to warm up")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
        ->capture_default_str();
    program.add_option("--timed-calls", options.timed_calls, "calls that are timed at each size in any case")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
        ->capture_default_str();
    options.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return options;
}

std::vector<std::size_t> RoutineOptions::sizes() const {
    std::vector<std::size_t> all;
    for (std::size_t size = smallest / sizeof(double) * sizeof(double); size <= largest; size *= 2) all.push_back(size);
    return all;
}

measure::Budget RoutineOptions::rounds() const {
    measure::Budget rounds = budget;
    rounds.fewest = std::max<std::size_t>(rounds.fewest, (timed_calls + calls - 1) / calls);
    rounds.samples = std::max(rounds.samples, rounds.fewest);
    return rounds;
}

} // namespace kumiki::bench
