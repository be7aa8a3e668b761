#pragma once

#include <exception>
#include <string>

namespace CLI {
class App;
}

namespace kumiki::measure {

/// Exit codes of every measuring program (docs/rows.md).
enum ExitCode { success = 0, validation_failed = 1, usage = 2, environment = 3 };

/// Parses the command line; on --help or wrong usage it prints what CLI11 has to say and ends the process with 0 or 2.
void parse_or_exit(CLI::App& program, int argc, char** argv);

/// Calls body() -> int and returns its exit code; an exception is printed as one sentence, "program: what", and
/// returns 3.
template <class Body>
int guarded(const char* program, Body body);

void print_error(const char* program, const std::exception& error);

/// The exit code, once standard output has been written to its end; a sentence and 3 where it takes no more (a full
/// disk), since rows that are lost are no success.
int written(const char* program, int code);

template <class Body>
int guarded(const char* program, Body body) {
    try {
        return written(program, body());
    } catch (const std::exception& error) {
        print_error(program, error);
        return environment;
    }
}

} // namespace kumiki::measure
