#include "launch/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <fmt/format.h>
#include <map>

#include "launch/exit_code.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {
namespace {

constexpr const char* footer =
    "Options end at PROGRAM; everything after it is the program's own.\n"
    "Each rank finds KUMIKI_RANK and KUMIKI_SIZE in its environment.\n\n"
    "Exit codes: 0 all ranks ended with 0; the code of the first rank that failed; 128 + the number of the signal\n"
    "that ended it; 1 a rank ended without leaving the job; 2 wrong usage; 3 program or machine not usable.\n\n"
    "Example: kumiki-run -n 2 -t 4 ./solver input.dat";

/// CLI11 does not know that a program follows the options.
class Help : public CLI::Formatter {
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: kumiki-run [-n RANKS] [-t THREADS] [OPTIONS] PROGRAM [ARGUMENTS]\n";
    }
};

tl::unexpected<Reply> wrong(const std::string& text) {
    return tl::unexpected<Reply>(Reply{exit_code::usage, text + " (`kumiki-run --help` explains the options)"});
}

/// "core, none" as help texts write it: "core|none".
std::string choices(std::string_view unit) {
    std::string text;
    for (const char letter : unit)
        if (letter != ' ') text += letter == ',' ? '|' : letter;
    return text;
}

/// The table of settings gives these options their names, values and help.
void add_settings(CLI::App& app, std::map<std::string, std::string>& values) {
    for (const Setting& setting : settings_table())
        if (!setting.option.empty())
            app.add_option(
                   std::string(setting.option), values[std::string(setting.name)],
                   fmt::format("{} Default: {}, or the variable {}.", setting.help, setting.fallback, setting.name))
                ->type_name(choices(setting.unit))
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

/// Checks the values of settings here already, so that the complaint can name the option that the user wrote.
tl::expected<Variables, Reply> check(const CLI::App& app, std::map<std::string, std::string>& values) {
    Variables given;
    Settings ignored;
    for (const Setting& setting : settings_table()) {
        if (setting.option.empty() || app.count(std::string(setting.option)) == 0) continue;
        const std::string& text = values[std::string(setting.name)];
        if (auto assigned = setting.assign(ignored, text); !assigned)
            return wrong(fmt::format("{} {} is not usable: {}", setting.option, text, assigned.error().message));
        given.emplace_back(setting.name, text);
    }
    return given;
}

tl::expected<int, Reply> rank_count(const std::string& text) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > most_ranks)
        return wrong(fmt::format("-n {} is not usable: it must be a whole number from 1 to {}", text, most_ranks));
    return count;
}

/// What is left when the options are read: the program and its arguments, perhaps after a `--`, or an option that does
/// not exist.
tl::expected<std::vector<std::string>, Reply> program_of(std::vector<std::string> rest) {
    const bool marked = !rest.empty() && rest.front() == "--";
    if (marked) rest.erase(rest.begin());
    if (rest.empty()) return wrong("no program to run is given");
    if (!marked && rest.front().starts_with('-')) return wrong(fmt::format("there is no option {}", rest.front()));
    if (rest.front().empty()) return wrong("the name of the program is empty");
    return rest;
}

} // namespace

tl::expected<Options, Reply> parse_options(int argc, const char* const* argv) {
    CLI::App app("Starts the ranks of a parallel program on this host and ends them together.", "kumiki-run");
    app.formatter(std::make_shared<Help>());
    app.prefix_command();
    app.footer(footer);
    Options options;
    std::string ranks = "1";
    bool print_settings = false;
    std::map<std::string, std::string> values;
    app.add_option("-n", ranks, "How many ranks (processes) to start. Default: 1.")
        ->type_name("RANKS")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_settings(app, values);
    app.add_flag("--label", options.label, "Put `[rank] ` before every line that a rank prints.");
    app.add_flag("--verbose", options.verbose, "Say on stderr where the ranks will run.");
    app.add_flag("--settings", print_settings, "Print all settings as Markdown and exit.");
    app.set_version_flag("--version", "kumiki-run " KUMIKI_VERSION, "Print the version and exit.");
    app.get_help_ptr()->description("Print this help and exit.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return tl::unexpected<Reply>(Reply{exit_code::ok, app.help()});
    } catch (const CLI::CallForVersion& version) {
        return tl::unexpected<Reply>(Reply{exit_code::ok, std::string(version.what()) + "\n"});
    } catch (const CLI::ArgumentMismatch& error) { // "-n: 1 required RANKS missing"
        const std::string_view text(error.what());
        return wrong(fmt::format("the option {} needs a value", text.substr(0, text.find(':'))));
    } catch (const CLI::ParseError& error) {
        return wrong(error.what());
    }
    if (print_settings) return tl::unexpected<Reply>(Reply{exit_code::ok, settings_as_markdown()});
    if (auto count = rank_count(ranks)) options.ranks = *count;
    else return tl::unexpected(count.error());
    if (auto given = check(app, values)) options.settings = std::move(*given);
    else return tl::unexpected(given.error());
    if (auto program = program_of(app.remaining())) options.program = std::move(*program);
    else return tl::unexpected(program.error());
    return options;
}

} // namespace kumiki::launch
