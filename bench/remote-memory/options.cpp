#include "bench/remote-memory/options.hpp"

#include <CLI/CLI.hpp>

#include "measure/program.hpp"

namespace kumiki::bench {

namespace {

/// If `at_will`, the command line may name the smallest size; otherwise it equals the largest.
RemoteMemoryOptions read(int argc, char** argv, std::size_t smallest, bool at_will) {
    RemoteMemoryOptions options;
    options.smallest = smallest;
    options.budget.seconds = 0.2;
    CLI::App program{"Measures latency and bandwidth between the memories of two ranks; one row per figure and size."};
    CLI::Option* named = nullptr;
    if (at_will)
        named = program.add_option("--smallest", options.smallest, "the smallest transfer in bytes; the largest alone")
                    ->transform(CLI::AsSizeValue(false))
                    ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
    program.add_flag("--all", options.all_sizes, "sizes by factors of 2, not of 4");
    program.add_option("--largest", options.largest, "the largest transfer in bytes, e.g. 64MiB")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(smallest, std::size_t{1} << 40))
        ->capture_default_str();
    options.budget.add_to(program);
    if (at_will)
        program.callback([&] {
            if (named->count() == 0) options.smallest = options.largest;
            else if (options.smallest > options.largest)
                throw CLI::ValidationError("--smallest", "is above the largest transfer");
        });
    measure::parse_or_exit(program, argc, argv);
    return options;
}

} // namespace

RemoteMemoryOptions RemoteMemoryOptions::parse(int argc, char** argv, std::size_t smallest) {
    return read(argc, argv, smallest, false);
}

RemoteMemoryOptions RemoteMemoryOptions::parse_largest(int argc, char** argv) { return read(argc, argv, 1, true); }

std::vector<std::size_t> RemoteMemoryOptions::sizes() const {
    std::vector<std::size_t> all;
    for (std::size_t size = smallest; size <= largest; size *= all_sizes ? 2 : 4) all.push_back(size);
    return all;
}

} // namespace kumiki::bench
