#include "launch/command/hosts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "settings/settings.hpp"
#include "text/text.hpp"

namespace kumiki::launch {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto begin = std::min(text.find_first_not_of(blanks), text.size());
    const auto end = text.find_last_not_of(blanks) + 1;
    return begin < end ? text.substr(begin, end - begin) : std::string_view{};
}

/// "name" or "name:N". A text with more than one colon is an IPv6 address without slots.
Result<Host> host_of(std::string_view text) {
    Host host;
    const auto colon = text.find(':');
    const bool counted = colon != text.npos && text.find(':', colon + 1) == text.npos;
    host.name = counted ? text.substr(0, colon) : text;
    if (auto usable = check_host_name(host.name); !usable) return tl::unexpected(usable.error());
    if (!counted) return host;
    host.slots = count_from(text.substr(colon + 1), most_ranks);
    if (host.slots) return host;
    return fail(KUMIKI_ERROR_ARGUMENT,
                fmt::format("the slots of host {} are \"{}\"; they must be a whole number from 1 to {}", host.name,
                            text.substr(colon + 1), most_ranks));
}

Result<Host> host_of_line(const Line& line) {
    if (line.name.empty()) return fail(KUMIKI_ERROR_ARGUMENT, "the line does not begin with the name of a host");
    auto host = host_of(line.name);
    if (!host) return host;
    if (host->slots && line.slots)
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("the slots of host {} are given twice", host->name));
    if (line.slots) host->slots = line.slots;
    host->request = line.request;
    // A list of threads, one number for each rank, also tells how many ranks there are.
    if (const auto ranks = line.request.threads.size(); !host->slots && ranks > 1)
        host->slots = static_cast<int>(ranks);
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

/// The number of ranks of each host if there are no slots: the first hosts get the remainder.
std::vector<int> evenly(std::size_t hosts, int ranks) {
    const int count = static_cast<int>(hosts);
    std::vector<int> parts(hosts, ranks / count);
    for (int host = 0; host < ranks % count; ++host) ++parts[static_cast<std::size_t>(host)];
    return parts;
}

/// Fills the slots of one host after another.
std::vector<int> filled(std::vector<int> slots, int ranks) {
    for (int& part : slots) {
        part = std::min(part, ranks);
        ranks -= part;
    }
    return slots;
}

} // namespace

Result<> check_host_name(std::string_view name) {
    if (name.empty()) return fail(KUMIKI_ERROR_ARGUMENT, "the name of a host is empty");
    if (name.front() == '-')
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("the name of host {} begins with a dash, as options of the remote shell do", name));
    if (std::ranges::any_of(name, [](unsigned char c) { return c <= ' ' || c > '~'; }))
        return fail(KUMIKI_ERROR_ARGUMENT, "the name of a host contains a character that host names cannot contain");
    return {};
}

Result<std::vector<Host>> hosts_from_list(std::string_view list) {
    std::vector<Host> hosts;
    for (const std::string_view name : text::split(list, ','))
        if (auto added = add(hosts, host_of(trimmed(name))); !added) return tl::unexpected(added.error());
    return hosts;
}

Result<std::vector<Host>> hosts_from_text(std::string_view text, std::string_view file) {
    std::vector<Host> hosts;
    auto read = read_lines(text, file, [&](const Line& line) { return add(hosts, host_of_line(line)); });
    if (!read) return tl::unexpected(read.error());
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

} // namespace kumiki::launch
