#include "launch/hosts_front.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "launch/conductor.hpp"

namespace kumiki::launch {
namespace {

namespace fs = std::filesystem;

Result<std::string> text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    if (file && (text << file.rdbuf() || file.peek() == std::ifstream::traits_type::eof())) return text.str();
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("cannot read the file of hosts {}: {}", path, std::strerror(errno)));
}

/// The variables of this process that ranks on all hosts find, too; what a launcher tells its own ranks is not among
/// them.
Variables variables_for_all(const std::vector<std::string>& exports) {
    const auto table = settings_table();
    const auto is_internal = [&](std::string_view name) {
        const auto found = std::ranges::find(table, name, &Setting::name);
        return found != table.end() && found->internal;
    };
    Variables variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto end = std::min(text.find('='), text.size());
        const auto name = text.substr(0, end);
        const bool wanted = name == "PATH" || name == "LD_LIBRARY_PATH" || name.starts_with("OMP_") ||
                            name.starts_with("KUMIKI_") || std::ranges::find(exports, name) != exports.end();
        if (wanted && !is_internal(name)) variables.emplace_back(name, text.substr(std::min(end + 1, text.size())));
    }
    return variables;
}

} // namespace

Result<std::vector<Share>> shares_of(const Options& options) {
    auto hosts = hosts_from_list(options.hosts);
    if (!options.host_file.empty()) {
        const auto text = text_of(options.host_file);
        if (!text) return tl::unexpected(text.error());
        hosts = hosts_from_text(*text, options.host_file);
    } else if (!hosts) hosts.error().message = fmt::format("--hosts {}: {}", options.hosts, hosts.error().message);
    if (!hosts) return tl::unexpected(hosts.error());
    return deal(*hosts, options.ranks);
}

int run_on_hosts(const Options& options, const Settings& settings, const std::vector<Share>& shares) {
    std::error_code ignored;
    return Conductor({.program = fs::read_symlink("/proc/self/exe", ignored),
                      .folder = fs::current_path(ignored),
                      .agent = options.agent,
                      .timeout = std::chrono::seconds(settings.timeout_s),
                      .label = options.label,
                      .verbose = options.verbose,
                      .command = options.program,
                      .settings = options.settings,
                      .environment = variables_for_all(options.exports)},
                     shares)
        .run();
}

} // namespace kumiki::launch
