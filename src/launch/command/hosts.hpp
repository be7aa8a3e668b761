#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "error/result.hpp"
#include "launch/command/request.hpp"

namespace kumiki::launch {

/// A host as the user names it.
struct Host {
    std::string name;
    std::optional<int> slots; ///< how many ranks the host takes; not given: no limit
    Request request = {};     ///< for its ranks
};

/// The part of a job that runs on one host.
struct Share {
    std::string host;                       ///< as the user names it; empty when the job runs on this host alone
    int first = 0;                          ///< number of its first rank in the job
    int ranks = 1;                          ///< how many it has, at least one
    int size = 1;                           ///< ranks of the whole job
    std::vector<RankRequest> requests = {}; ///< what is asked for each of its ranks
    std::vector<int> cores = {};            ///< that its ranks may use; empty: all

    bool alone() const { return ranks == size; }
    bool has(int rank) const { return rank >= first && rank < first + ranks; }

    static auto fields(auto& self) {
        return std::tie(self.host, self.first, self.ranks, self.size, self.requests, self.cores);
    }
};

/// Fails when no host can have this name, or the remote shell would take it for an option.
Result<> check_host_name(std::string_view name);

/// Reads "a,b:2": names with slots behind a colon. Fails on an empty name, on a name that occurs twice, or on slots
/// that are no number.
Result<std::vector<Host>> hosts_from_list(std::string_view list);

/// Reads the text of a hostfile: one line for each host (Line), whose slots may also be written `NAME:N`. Failures name
/// `file` and the line.
Result<std::vector<Host>> hosts_from_text(std::string_view text, std::string_view file);

/// Deals `ranks` ranks (not given: one for each host, or for each slot) in blocks: as evenly as possible, or, when any
/// host has slots, each host filled in turn (a host without slots then has one). Hosts that get no rank are left out.
/// Fails when there are more ranks than slots.
Result<std::vector<Share>> deal(const std::vector<Host>& hosts, std::optional<int> ranks);

} // namespace kumiki::launch
