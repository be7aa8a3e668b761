#include "measure/program.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "measure/sampling.hpp"

namespace kumiki::measure {

void Budget::add_to(CLI::App& program) {
    program.add_option("--samples", samples, "take at most this many samples")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    program
        .add_option("--seconds", seconds,
                    "stop after this time, though a figure may not be settled yet; at least six samples are taken")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

void parse_or_exit(CLI::App& program, int argc, char** argv) {
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(written(program.get_name().c_str(), program.exit(error) == 0 ? success : usage));
    }
}

void print_error(const char* program, const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
}

int written(const char* program, int code) {
    if (std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fprintf(stderr, "%s: standard output cannot be written (%s); make room there, or name another place\n",
                 program, std::strerror(errno));
    return environment;
}

} // namespace kumiki::measure
