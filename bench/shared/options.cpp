#include "bench/shared/options.hpp"

#include <CLI/CLI.hpp>

#include "measure/program.hpp"

namespace kumiki::bench {

SharedOptions SharedOptions::parse(int argc, char** argv) {
    SharedOptions options;
    CLI::App program{"Measures what keeping the pages of shared arrays consistent costs, between two ranks."};
    program.add_option("--page", options.page, "bytes of a page: a power of two from 4096 to 65536")
        ->check(CLI::IsMember({4096, 8192, 16384, 32768, 65536}))
        ->capture_default_str();
    program.add_option("--scan", options.scan, "bytes that are read one after another (--scan 8MiB)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::size_t{1} << 20, std::size_t{1} << 30))
        ->default_str("8MiB");
    program.add_option("--touched", options.touched, "bytes that are touched first (--touched 32MiB)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::size_t{1} << 20, std::size_t{1} << 30))
        ->default_str("32MiB");
    options.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return options;
}

} // namespace kumiki::bench
