#include "fabric/wireup/host_map.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "platform/interfaces.hpp"

namespace kumiki::fabric {

HostMap::HostMap(std::vector<Introduction> all, int rank) : all_(std::move(all)), rank_(rank) {
    for (int other = 0; other < size(); ++other)
        if (at(other).host == own().host) local_.push_back(other);
}

int HostMap::local_rank() const { return static_cast<int>(std::ranges::find(local_, rank_) - local_.begin()); }

int HostMap::largest_local_size() const {
    std::unordered_map<std::string_view, int> ranks;
    int largest = 0;
    for (const auto& each : all_) largest = std::max(largest, ++ranks[each.host]);
    return largest;
}

HostMap::Arena HostMap::least_arena() const {
    Arena least{~std::uint64_t{0}, false};
    for (const auto& each : all_) {
        const bool is_wish = each.arena_bytes > 0;
        const auto bytes = is_wish ? each.arena_bytes : std::bit_ceil(each.memory_bytes);
        if (bytes < least.bytes) least = {bytes, is_wish};
    }
    return least;
}

void HostMap::settle(Settings& settings) const {
    settings.rank = rank_;
    settings.size = size();
    settings.local_rank = local_rank();
    settings.local_size = local_size();
    settings.threads = threads(rank_);
    settings.crowded = is_crowded();
    if (settings.bind && !settings.crowded) settings.cpus = processors();
    settings.devices = platform::devices_towards(other_hosts());
}

/// The addresses of each other host.
std::vector<std::string> HostMap::other_hosts() const {
    std::vector<std::string> found;
    for (const auto& each : all_)
        if (each.host != own().host && std::ranges::find(found, each.addresses) == found.end())
            found.push_back(each.addresses);
    return found;
}

/// The ranks that may run on exactly the same processors as `rank`; mpirun binds ranks or lets them share all
/// processors.
std::vector<int> HostMap::sharers(int rank) const {
    std::vector<int> found;
    for (int other = 0; other < size(); ++other)
        if (at(other).machine == at(rank).machine && at(other).cpus == at(rank).cpus) found.push_back(other);
    return found;
}

int HostMap::share(int rank) const {
    return std::max(1, static_cast<int>(at(rank).cpus.size() / sharers(rank).size()));
}

int HostMap::threads(int rank) const { return at(rank).threads > 0 ? at(rank).threads : share(rank); }

/// Whether the machine is crowded. It counts the ranks of the whole machine, because hosts that are namespaces share
/// its processors. The answer is the same for all ranks of the machine, which choose their kind of barrier by it.
bool HostMap::is_crowded() const {
    std::size_t wanted = 0;
    std::vector<int> cpus;
    for (int other = 0; other < size(); ++other) {
        if (at(other).machine != own().machine) continue;
        const auto count = static_cast<std::size_t>(threads(other));
        if (count > at(other).cpus.size()) return true;
        wanted += count;
        cpus.insert(cpus.end(), at(other).cpus.begin(), at(other).cpus.end());
    }
    std::ranges::sort(cpus);
    cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
    return wanted > cpus.size();
}

/// The processors that this rank gets exclusively. Where the processor sets of ranks overlap without being equal it
/// gets none, and stays unbound.
std::vector<int> HostMap::processors() const {
    const auto equals = sharers(rank_);
    const int count = threads(rank_);
    for (int other = 0; other < size(); ++other)
        if (at(other).machine == own().machine && at(other).cpus != own().cpus &&
            std::ranges::find_first_of(at(other).cpus, own().cpus) != at(other).cpus.end())
            return {};
    if (std::ranges::any_of(equals, [&](int other) { return threads(other) > share(other); })) return {};
    const auto first = (std::ranges::find(equals, rank_) - equals.begin()) * share(rank_);
    return {own().cpus.begin() + first, own().cpus.begin() + first + count};
}

} // namespace kumiki::fabric
