#include "launch/command/hosts.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <sstream>

#include "settings/settings.hpp"

namespace kumiki::launch {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(blanks), text.size());
    const auto end = text.find_last_not_of(blanks) + 1;
    return begin < end ? text.substr(begin, end - begin) : std::string_view{};
}

Result<int> slot_count(std::string_view text, std::string_view name) {
    int slots = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
    if (error != std::errc{} || end != text.data() + text.size() || slots < 1 || slots > most_ranks)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("the slots of host {} are \"{}\"; they must be a whole number from 1 to {}", name, text,
                                most_ranks));
    return slots;
}

/// "name" or "name:N". A text with more than one colon is an address of IPv6, without slots.
Result<Host> host_of(std::string_view text) {
    Host host;
    const auto colon = text.find(':');
    const bool counted = colon != text.npos && text.find(':', colon + 1) == text.npos;
    host.name = counted ? text.substr(0, colon) : text;
    if (host.name.empty()) return fail(KUMIKI_ERROR_ARGUMENT, "the name of a host is empty");
    if (host.name.front() == '-')
        return fail(
            KUMIKI_ERROR_ARGUMENT,
            fmt::format("the name of host {} begins with a dash, as options of the remote shell do", host.name));
    if (std::ranges::any_of(host.name, [](unsigned char c) { return c <= ' ' || c > '~'; }))
        return fail(KUMIKI_ERROR_ARGUMENT, "the name of a host contains a character that host names cannot contain");
    if (!counted) return host;
    auto slots = slot_count(text.substr(colon + 1), host.name);
    if (!slots) return tl::unexpected(slots.error());
    host.slots = *slots;
    return host;
}

/// A line of a file of hosts that is neither empty nor a comment.
Result<Host> host_of_line(std::string_view line) {
    constexpr std::string_view key = "slots=";
    const auto end = std::min(line.find_first_of(blanks), line.size());
    auto host = host_of(line.substr(0, end));
    const auto rest = trimmed(line.substr(end));
    if (!host || rest.empty()) return host;
    if (!rest.starts_with(key) || host->slots)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("\"{}\" is not understood; a line is NAME, NAME slots=N or NAME:N", rest));
    auto slots = slot_count(rest.substr(key.size()), host->name);
    if (!slots) return tl::unexpected(slots.error());
    host->slots = *slots;
    return host;
}

Result<> add(std::vector<Host>& hosts, Result<Host> host) {
    if (!host) return tl::unexpected(host.error());
    if (std::ranges::find(hosts, host->name, &Host::name) != hosts.end())
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("host {0} is named twice; to give it more ranks write {0}:2", host->name));
    hosts.push_back(std::move(*host));
    return {};
}

/// How many ranks each host gets when there are no slots: the first hosts take the remainder.
std::vector<int> evenly(std::size_t hosts, int ranks) {
    const int count = static_cast<int>(hosts);
    std::vector<int> parts(hosts, ranks / count);
    for (int host = 0; host < ranks % count; ++host) ++parts[static_cast<std::size_t>(host)];
    return parts;
}

/// Fills `slots` in turn.
std::vector<int> filled(std::vector<int> slots, int ranks) {
    for (int& part : slots) {
        part = std::min(part, ranks);
        ranks -= part;
    }
    return slots;
}

Result<std::string> text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    if (file && (text << file.rdbuf() || file.peek() == std::ifstream::traits_type::eof())) return text.str();
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("cannot read the host file {}: {}", path, std::strerror(errno)));
}

} // namespace

Result<std::vector<Host>> hosts_from_list(std::string_view list) {
    std::vector<Host> hosts;
    for (;;) {
        const auto comma = std::min(list.find(','), list.size());
        if (auto added = add(hosts, host_of(trimmed(list.substr(0, comma)))); !added)
            return tl::unexpected(added.error());
        if (comma == list.size()) return hosts;
        list.remove_prefix(comma + 1);
    }
}

Result<std::vector<Host>> hosts_from_text(std::string_view text, std::string_view file) {
    std::vector<Host> hosts;
    for (int number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto whole = text.substr(0, end);
        const auto line = trimmed(whole.substr(0, std::min(whole.find('#'), whole.size())));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) continue;
        if (auto added = add(hosts, host_of_line(line)); !added)
            return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{}, line {}: {}", file, number, added.error().message));
    }
    if (hosts.empty()) return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{} names no host", file));
    return hosts;
}

Result<std::vector<Share>> deal(const std::vector<Host>& hosts, std::optional<int> ranks) {
    const bool limited = std::ranges::any_of(hosts, [](const Host& host) { return host.slots.has_value(); });
    std::vector<int> slots;
    for (const Host& host : hosts) slots.push_back(host.slots.value_or(1));
    const int all = std::accumulate(slots.begin(), slots.end(), 0);
    const int size = ranks.value_or(all);
    if (limited && size > all)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("{0} ranks are more than the {1} slots of the hosts; give the hosts more slots, leave "
                                "out the slots, or start at most {1} ranks (-n {1})",
                                size, all));
    if (size > most_ranks)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("{} ranks are too many: a job has at most {}", size, most_ranks));
    const auto parts = limited ? filled(slots, size) : evenly(hosts.size(), size);
    std::vector<Share> shares;
    for (std::size_t i = 0, first = 0; i < hosts.size(); first += static_cast<std::size_t>(parts[i++]))
        if (parts[i] > 0) shares.push_back({hosts[i].name, static_cast<int>(first), parts[i], size});
    return shares;
}

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

} // namespace kumiki::launch
