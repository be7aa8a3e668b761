#include "launch/command/shares.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

namespace kumiki::launch {
namespace {

/// A line of the rankfile.
struct RankLine {
    std::string host; ///< empty: not named
    Request request;
};

Result<> check_line(const std::vector<RankLine>& before, const Line& line) {
    if (line.slots)
        return fail(KUMIKI_ERROR_ARGUMENT, "slots belong in a hostfile; a rankfile has one line for each rank");
    if (line.request.threads.size() > 1)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("threads={} are several numbers; a line of a rankfile is about one rank",
                                fmt::join(line.request.threads, ",")));
    if (!line.name.empty())
        if (auto usable = check_host_name(line.name); !usable) return usable;
    if (!before.empty() && before.front().host.empty() != line.name.empty())
        return fail(KUMIKI_ERROR_ARGUMENT, "some lines name a host and some do not; name one in all lines or in none");
    const bool goes_on = !before.empty() && before.back().host == line.name;
    if (!line.name.empty() && !goes_on && std::ranges::find(before, line.name, &RankLine::host) != before.end())
        return fail(
            KUMIKI_ERROR_ARGUMENT,
            fmt::format("the ranks of host {} are not next to each other; put their lines together", line.name));
    return {};
}

Result<std::vector<RankLine>> rank_lines(const std::string& path) {
    std::vector<RankLine> lines;
    if (path.empty()) return lines;
    const auto text = text_of(path, "rankfile");
    if (!text) return tl::unexpected(text.error());
    auto read = read_lines(*text, path, [&](const Line& line) {
        return check_line(lines, line).map([&] { lines.push_back({std::string(line.name), line.request}); });
    });
    if (!read) return tl::unexpected(read.error());
    if (lines.empty()) return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{} has no line for a rank", path));
    if (lines.size() > static_cast<std::size_t>(most_ranks))
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("{} has lines for {} ranks; a job has at most {}", path, lines.size(), most_ranks));
    return lines;
}

Result<std::vector<Host>> named_hosts(const Options& options) {
    if (!options.host_file.empty()) {
        const auto text = text_of(options.host_file, "hostfile");
        if (!text) return tl::unexpected(text.error());
        return hosts_from_text(*text, options.host_file);
    }
    if (options.hosts.empty()) return {};
    auto hosts = hosts_from_list(options.hosts);
    if (!hosts) hosts.error().message = fmt::format("--hosts {}: {}", options.hosts, hosts.error().message);
    return hosts;
}

/// Fails if `text`, which says something for each of `told` ranks, does not fit the job.
Result<> check_count(const std::string& text, std::size_t told, int ranks) {
    if (told == static_cast<std::size_t>(ranks)) return {};
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{} for {} rank{}, but the job has {}; make the two numbers equal",
                                                   text, told, told == 1 ? "" : "s", ranks));
}

/// The user's list of threads, as it was given.
std::string given_threads(const Options& options, const Settings& settings) {
    const bool by_option =
        std::ranges::find(options.settings, "KUMIKI_THREADS", &Variables::value_type::first) != options.settings.end();
    return fmt::format("{}{}", by_option ? "-t " : "KUMIKI_THREADS=", fmt::join(settings.threads, ","));
}

/// Checks that ranks of one host are next to each other in the rankfile.
Result<std::vector<Share>> shares_by_lines(const std::vector<RankLine>& lines, const std::vector<Host>& hosts) {
    std::vector<Share> shares;
    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
        const std::string& name = lines[rank].host;
        if (!hosts.empty() && std::ranges::find(hosts, name, &Host::name) == hosts.end())
            return fail(KUMIKI_ERROR_ARGUMENT,
                        fmt::format("the rankfile names host {}, which is not among the hosts of the job ({})", name,
                                    fmt::join(hosts | std::views::transform(&Host::name), ", ")));
        if (shares.empty() || shares.back().host != name)
            shares.push_back({name, static_cast<int>(rank), 0, static_cast<int>(lines.size())});
        ++shares.back().ranks;
    }
    return shares;
}

Result<> ask_for_host(Share& share, const Host& host) {
    const auto& counts = host.request.threads;
    if (counts.size() > 1 && counts.size() < share.requests.size())
        return check_count(fmt::format("host {} has threads={}", host.name, fmt::join(counts, ",")), counts.size(),
                           share.ranks);
    for (std::size_t local = 0; local < share.requests.size(); ++local)
        if (const int threads = Settings::of_rank(counts, static_cast<int>(local)); threads > 0)
            share.requests[local].threads = threads;
    share.cores = host.request.cores;
    if (host.request.devices.given)
        for (RankRequest& rank : share.requests) {
            rank.devices = host.request.devices;
            rank.devices.divided = true;
        }
    return {};
}

} // namespace

Result<std::vector<Share>> shares_of(const Options& options, const Settings& settings) {
    const auto lines = rank_lines(options.rank_file);
    if (!lines) return tl::unexpected(lines.error());
    const auto hosts = named_hosts(options);
    if (!hosts) return tl::unexpected(hosts.error());
    const bool lines_name_hosts = !lines->empty() && !lines->front().host.empty();
    auto ranks = options.ranks;
    if (!ranks && !lines->empty()) ranks = static_cast<int>(lines->size());
    if (!ranks && settings.threads.size() > 1) ranks = static_cast<int>(settings.threads.size());
    if (!lines->empty())
        if (auto fits = check_count(options.rank_file + " has lines", lines->size(), *ranks); !fits)
            return tl::unexpected(fits.error());
    auto shares = lines_name_hosts  ? shares_by_lines(*lines, *hosts)
                  : !hosts->empty() ? deal(*hosts, ranks)
                                    : std::vector{Share{{}, 0, ranks.value_or(1), ranks.value_or(1)}};
    if (!shares) return shares;
    if (settings.threads.size() > 1)
        if (auto fits =
                check_count(given_threads(options, settings) + " is", settings.threads.size(), shares->front().size);
            !fits)
            return tl::unexpected(fits.error());
    for (Share& share : *shares) {
        for (int rank = share.first; rank < share.first + share.ranks; ++rank)
            share.requests.push_back({rank, Settings::of_rank(settings.threads, rank), {}, options.devices});
        if (const auto host = std::ranges::find(*hosts, share.host, &Host::name); host != hosts->end())
            if (auto asked = ask_for_host(share, *host); !asked) return tl::unexpected(asked.error());
        for (std::size_t local = 0; local < share.requests.size() && !lines->empty(); ++local) {
            const Request& own = (*lines)[static_cast<std::size_t>(share.first) + local].request;
            if (!own.threads.empty()) share.requests[local].threads = own.threads.front();
            share.requests[local].cores = own.cores;
            if (own.devices.given) share.requests[local].devices = own.devices;
        }
    }
    return shares;
}

} // namespace kumiki::launch
