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
    std::optional<int> slots; ///< how many ranks the host takes; nothing: no limit
    Request request = {};     ///< for its ranks
};

/// The part of a job that runs on one host.
struct Share {
    std::string host;                       ///< as the user names it; empty if the job runs only on this host
    int first = 0;                          ///< number in the job of its first rank
    int ranks = 1;                          ///< the number of its ranks, at least one
    int size = 1;                           ///< the number of ranks of the whole job
    std::vector<RankRequest> requests = {}; ///< one for each of its ranks
    std::vector<int> cores = {};            ///< the cores that its ranks may use; empty: all

    bool alone() const { return ranks == size; }
    bool has(int rank) const { return rank >= first && rank < first + ranks; }

    static auto fields(auto& self) {
        return std::tie(self.host, self.first, self.ranks, self.size, self.requests, self.cores);
    }
};

/// Fails if no host can have this name, or if the remote shell would mistake it for an option.
Result<> check_host_name(std::string_view name);

/// Reads "a,b:2": names with slots after a colon. Fails on an empty name, on a name that occurs twice, or on slots that
/// are not a number.
Result<std::vector<Host>> hosts_from_list(std::string_view list);

/// Reads the text of a hostfile: one line for each host (Line), whose slots may also be written `NAME:N`. Errors name
/// `file` and the line.
Result<std::vector<Host>> hosts_from_text(std::string_view text, std::string_view file);

/// Distributes `ranks` ranks (nothing: one for each host, or for each slot) in blocks: as evenly as possible, or, if
/// any host has slots, by filling one host after another (a host without slots then gets one rank). Hosts without ranks
/// are left out. Fails if there are more ranks than slots.
Result<std::vector<Share>> deal(const std::vector<Host>& hosts, std::optional<int> ranks);

} // namespace kumiki::launch
