#include "bench/rank-barrier/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "measure/program.hpp"

namespace kumiki::bench {

RankBarrierOptions RankBarrierOptions::parse(int argc, char** argv) {
    RankBarrierOptions options;
    CLI::App program{"Measures a barrier of all ranks, plain and split-phase; one row per form."};
    program
        .add_option("--computation", options.computation,
                    "us of computation between entering and waiting (split-phase)")
        ->check(CLI::Range(0.1, 1e6))
        ->capture_default_str();
    options.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return options;
}

std::string RankBarrierOptions::note() const {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the time that remains visible beside a computation of %g us between enter and wait", computation);
    return text;
}

} // namespace kumiki::bench
