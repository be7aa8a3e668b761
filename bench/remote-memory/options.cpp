#include "bench/remote-memory/options.hpp"

#include <CLI/CLI.hpp>

#include "measure/program.hpp"

namespace kumiki::bench {

RemoteMemoryOptions RemoteMemoryOptions::parse(int argc, char** argv, std::size_t smallest) {
    RemoteMemoryOptions options;
    options.smallest = smallest;
    options.budget.seconds = 0.2;
    CLI::App program{"Measures latency and bandwidth between the memories of two ranks; one row per figure and size."};
    program.add_flag("--all", options.all_sizes, "sizes by factors of 2, not of 4");
    program.add_option("--largest", options.largest, "the largest transfer in bytes, e.g. 64MiB")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(smallest, std::size_t{1} << 40))
        ->capture_default_str();
    options.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return options;
}

std::vector<std::size_t> RemoteMemoryOptions::sizes() const {
    std::vector<std::size_t> all;
    for (std::size_t size = smallest; size <= largest; size *= all_sizes ? 2 : 4) all.push_back(size);
    return all;
}

} // namespace kumiki::bench
