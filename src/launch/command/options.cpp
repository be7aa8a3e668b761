#include "launch/command/options.hpp"

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

#include "launch/command/outcome.hpp"
#include "settings/distribution.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {
namespace {

constexpr const char* default_remote_shell = "ssh -o BatchMode=yes";

constexpr const char* footer =
    "Options end at PROGRAM; everything after it is the program's own.\n"
    "Each rank finds KUMIKI_RANK and KUMIKI_SIZE in its environment.\n\n"
    "Exit codes: 0 all ranks ended with 0; the code of the first rank that failed; 128 + the number of the signal\n"
    "that ended it; 1 a rank ended without leaving the job; 2 wrong usage; 3 program or machine not usable.\n\n"
    "Examples: kumiki-run -n 2 -t 4 ./solver input.dat\n"
    "          kumiki-run --hosts node1,node2 -n 8 ./solver input.dat";

/// CLI11's usage line does not say that a program follows the options.
class Help : public CLI::Formatter {
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: kumiki-run [-n RANKS] [-t THREADS] [OPTIONS] PROGRAM [ARGUMENTS]\n";
    }
};

tl::unexpected<Reply> wrong(const std::string& text) {
    return tl::unexpected<Reply>(Reply{exit_code::usage, text + " (`kumiki-run --help` explains the options)"});
}

/// Turns "core, none" into "core|none", the form of help texts.
std::string choices(std::string_view unit) {
    std::string text;
    for (const char letter : unit)
        if (letter != ' ') text += letter == ',' ? '|' : letter;
    return text;
}

/// Adds the options for settings; their names, values and help texts come from the table of settings.
void add_settings(CLI::App& app, std::map<std::string, std::string>& values) {
    for (const Setting& setting : settings_table())
        if (!setting.option.empty())
            app.add_option(
                   std::string(setting.option), values[std::string(setting.name)],
                   fmt::format("{} Default: {}, or the variable {}.", setting.help, setting.fallback, setting.name))
                ->type_name(choices(setting.unit))
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_host_options(CLI::App& app, Options& options, std::string& remote_shell) {
    const auto last = CLI::MultiOptionPolicy::TakeLast;
    app.add_option("--hosts", options.hosts, "Run on these hosts: a,b,c or, with how many ranks each takes, a:2,b:4.")
        ->type_name("LIST")
        ->multi_option_policy(last);
    app.add_option("--hostfile", options.host_file,
                   "The same from a file: on each line the name of a host, and any of slots=N, threads=N or N,N,..., "
                   "cores=LIST and devices=LIST; # begins a comment.")
        ->type_name("FILE")
        ->multi_option_policy(last);
    app.add_option(
           "--rankfile", options.rank_file,
           "A file with one line for each rank: any of threads=N, cores=LIST and devices=LIST, behind the name of "
           "its host, which may be missing.")
        ->type_name("FILE")
        ->multi_option_policy(last);
    app.add_option(
           "--remote-shell", remote_shell,
           fmt::format(
               "The command that runs another command on a host; the name of the host is added to it. Default: {}.",
               default_remote_shell))
        ->type_name("COMMAND")
        ->multi_option_policy(last);
    app.add_option("-x", options.exports,
                   "Pass this variable on to the ranks on all hosts, besides PATH, LD_LIBRARY_PATH, KUMIKI_... and "
                   "OMP_..., with a value of its own if one is given; may be repeated.")
        ->type_name("NAME[=VALUE]")
        ->allow_extra_args(false);
}

/// Checks the values of settings here, so that an error message can name the option that the user wrote.
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

/// The words of the remote shell's command.
tl::expected<std::vector<std::string>, Reply> remote_shell_words(const std::string& command) {
    auto words = split_words(command);
    if (!words) return wrong(fmt::format("--remote-shell {} is not usable: a quote is not closed", command));
    if (words->empty()) return wrong("--remote-shell is empty: it must be a command that reaches a host, such as ssh");
    return *words;
}

/// Checks the options about hosts. Returns the error, if there is one.
std::optional<Reply> check_hosts(const CLI::App& app, const Options& options) {
    if (app.count("--hosts") > 0 && app.count("--hostfile") > 0)
        return wrong("--hosts and --hostfile exclude each other").value();
    if (app.count("--hosts") > 0 && options.hosts.empty()) return wrong("--hosts is empty").value();
    if (app.count("--hostfile") > 0 && options.host_file.empty()) return wrong("--hostfile is empty").value();
    if (app.count("--rankfile") > 0 && options.rank_file.empty()) return wrong("--rankfile is empty").value();
    if (app.count("--remote-shell") > 0 && !options.names_hosts() && options.rank_file.empty())
        return wrong("--remote-shell is of use only together with --hosts, --hostfile or --rankfile").value();
    return {};
}

/// Sets apart the values in `-x NAME=VALUE`, and checks that a name without one is in the environment. Returns the
/// error, if there is one.
std::optional<Reply> take_exports(Options& options) {
    for (std::string& text : options.exports) {
        if (const auto equals = text.find('='); equals != text.npos) {
            if (equals == 0)
                return wrong(fmt::format("-x {} is not usable: it must begin with the name of a variable", text))
                    .value();
            options.variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
            text.resize(equals);
        } else if (std::getenv(text.c_str()) == nullptr) {
            return wrong(fmt::format("-x {0} is not usable: there is no variable {0} in the environment", text))
                .value();
        }
    }
    return {};
}

/// Whether there are such variables is found out with the program. Returns the error, if there is one.
std::optional<Reply> check_maps(const Options& options) {
    if (!options.maps.empty() && !options.openmp) return wrong("--map is of use only together with --openmp").value();
    for (const std::string& map : options.maps) {
        const auto equals = map.find('=');
        if (equals == map.npos || equals == 0)
            return wrong(
                       fmt::format("--map {} is not usable: it must be the name of a variable, =, and its homes, such "
                                   "as field=block",
                                   map))
                .value();
        if (const auto homes = Distribution::from(map.substr(equals + 1)); !homes)
            return wrong(fmt::format("--map {} is not usable: {}", map, homes.error().message)).value();
    }
    return {};
}

/// Reads the value of --devices; nothing if the option is not given.
tl::expected<DeviceRequest, Reply> asked_devices(const CLI::App& app, const std::string& text) {
    if (app.count("--devices") == 0) return {};
    auto devices = devices_from(text);
    if (!devices) return wrong(fmt::format("--devices {} is not usable: {}", text, devices.error().message));
    devices->divided = true;
    return *devices;
}

tl::expected<int, Reply> rank_count(const std::string& text) {
    if (const auto count = count_from(text, most_ranks)) return *count;
    return wrong(fmt::format("-n {} is not usable: it must be a whole number from 1 to {}", text, most_ranks));
}

/// Takes the program and its arguments from the words that remain after the options. They may follow a `--`; without
/// it, a word that begins with a dash is an option that does not exist.
tl::expected<std::vector<std::string>, Reply> program_of(std::vector<std::string> rest) {
    const bool marked = !rest.empty() && rest.front() == "--";
    if (marked) rest.erase(rest.begin());
    if (rest.empty()) return wrong("no program to run is given");
    if (!marked && rest.front().starts_with('-')) return wrong(fmt::format("there is no option {}", rest.front()));
    if (rest.front().empty()) return wrong("the name of the program is empty");
    return rest;
}

} // namespace

std::optional<std::vector<std::string>> split_words(std::string_view command) {
    std::vector<std::string> words;
    bool inside = false; // whether the loop is inside a word
    char quote = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char letter = command[i];
        if (quote == 0 && std::isspace(static_cast<unsigned char>(letter)) != 0) {
            inside = false;
            continue;
        }
        if (!std::exchange(inside, true)) words.emplace_back();
        if (letter == quote) quote = 0;
        else if (quote == 0 && (letter == '\'' || letter == '"')) quote = letter;
        else if (quote != '\'' && letter == '\\' && i + 1 < command.size()) words.back() += command[++i];
        else words.back() += letter;
    }
    if (quote != 0) return {};
    return words;
}

tl::expected<Options, Reply> parse_options(int argc, const char* const* argv) {
    CLI::App app("Starts the ranks of a parallel program, on this host or on several, and ends them together.",
                 "kumiki-run");
    app.formatter(std::make_shared<Help>());
    app.prefix_command();
    app.footer(footer);
    Options options;
    std::string ranks, devices;
    std::string remote_shell = default_remote_shell;
    bool print_settings = false;
    std::map<std::string, std::string> values;
    app.add_option("-n", ranks, "How many ranks (processes) to start. Default: 1, or one for each host or slot.")
        ->type_name("RANKS")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_host_options(app, options, remote_shell);
    add_settings(app, values);
    app.add_option("--devices", devices,
                   "Divide these devices (GPUs and other accelerators) of each host among its ranks: all, none, or "
                   "numbers as `kumiki topology` shows them (0-3). Default: each rank sees what the launcher sees.")
        ->type_name("LIST")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.add_flag("--label", options.label, "Put `[rank] ` before every line that a rank prints.");
    app.add_flag("--verbose", options.verbose, "Say on stderr where the ranks will run.");
    app.add_flag("--openmp", options.openmp,
                 "Run an OpenMP program, built by gcc, g++, gfortran or clang with -fopenmp, on Kumiki's OpenMP "
                 "runtime; with --hosts, over all of them.");
    app.add_option("--map", options.maps,
                   "Distribute a variable of an OpenMP program that runs as several processes: block, cyclic[:BYTES], "
                   "first, rank:NUMBER, or by dimension, such as '[block:100][*:200]'; may be repeated.")
        ->type_name("NAME=HOMES")
        ->allow_extra_args(false);
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
    if (app.count("-n") > 0) {
        if (auto count = rank_count(ranks)) options.ranks = *count;
        else return tl::unexpected(count.error());
    }
    if (auto asked = asked_devices(app, devices)) options.devices = std::move(*asked);
    else return tl::unexpected(asked.error());
    if (auto mistake = check_hosts(app, options)) return tl::unexpected(*mistake);
    if (auto mistake = take_exports(options)) return tl::unexpected(*mistake);
    if (auto words = remote_shell_words(remote_shell)) options.remote_shell = std::move(*words);
    else return tl::unexpected(words.error());
    if (auto mistake = check_maps(options)) return tl::unexpected(*mistake);
    if (auto given = check(app, values)) options.settings = std::move(*given);
    else return tl::unexpected(given.error());
    if (auto program = program_of(app.remaining())) options.program = std::move(*program);
    else return tl::unexpected(program.error());
    return options;
}

} // namespace kumiki::launch
