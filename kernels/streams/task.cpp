#include "kernels/streams/task.hpp"

#include <CLI/CLI.hpp>
#include <charconv>

#include "measure/program.hpp"

namespace kumiki::kernels::streams {
namespace {

/// A count is a number in a row, and a name is text.
std::variant<std::int64_t, std::string> value_of(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
    return text;
}

/// A word of a metric or a parameter's name.
bool is_name(const std::string& text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

} // namespace

Task parse_task(const char* name, int argc, char** argv) {
    Task task;
    CLI::App program{
        "What bounds a program that moves memory: as many bytes read and updated as it must for some of its "
        "work, and nothing computed. One row, PROGRAM.bound.",
        name};
    program.add_option("--of", task.of, "the program that is bounded, as its metrics begin")
        ->required()
        ->check([](const std::string& text) {
            return is_name(text) ? "" : "'" + text + "' does not begin a metric: lower case, digits and _";
        });
    program
        .add_option_function<std::vector<std::string>>(
            "--parameter",
            [&task](const std::vector<std::string>& pairs) {
                for (const std::string& pair : pairs) {
                    const std::size_t middle = pair.find('=');
                    task.parameters[pair.substr(0, middle)] = value_of(pair.substr(middle + 1));
                }
            },
            "NAME=VALUE: a parameter of its problem, for the row")
        ->check([](const std::string& text) {
            const std::size_t middle = text.find('=');
            const bool good =
                middle != std::string::npos && is_name(text.substr(0, middle)) && middle + 1 < text.size();
            return good ? "" : "'" + text + "' is no NAME=VALUE";
        });
    program.add_option("--read", task.traffic.read, "bytes that a pass reads, all threads together")
        ->transform(CLI::AsSizeValue(false))
        ->capture_default_str();
    program.add_option("--update", task.traffic.update, "bytes that a pass reads and writes where they lie")
        ->transform(CLI::AsSizeValue(false))
        ->capture_default_str();
    program.add_option("--work", task.work, "what the program does in the time of a pass, in units of its rate")
        ->required()
        ->check(CLI::PositiveNumber);
    program.add_option("--unit", task.unit, "the unit of its rate")->required();
    program.add_option("--threads", task.threads, "number of threads")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    program.callback([&task] {
        if (task.traffic.read + task.traffic.update == 0)
            throw CLI::ValidationError("a pass must move something: give --read, --update, or both");
    });
    task.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

} // namespace kumiki::kernels::streams
