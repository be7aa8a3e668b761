#pragma once

#include <exception>
#include <string>

namespace CLI {
class App;
}

namespace kumiki::measure {

/// Exit codes of every measuring program (docs/rows.md).
enum ExitCode { success = 0, validation_failed = 1, usage = 2, environment = 3 };

/// Parses the command line; on --help or wrong usage it prints CLI11's message and ends the process with 0 or 2.
void parse_or_exit(CLI::App& program, int argc, char** argv);

/// Calls body() -> int and returns its exit code; on an exception it prints one sentence, "program: what", and returns
/// 3.
template <class Body>
int guarded(const char* program, Body body);

void print_error(const char* program, const std::exception& error);

/// Returns the exit code when standard output has been written completely. If it cannot be written (a full disk),
/// prints a sentence and returns 3, because lost rows are not a success.
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
