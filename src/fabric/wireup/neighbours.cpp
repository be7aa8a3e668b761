#include "fabric/wireup/neighbours.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "platform/interfaces.hpp"

namespace kumiki::fabric {

Neighbours::Neighbours(std::vector<Introduction> all, int rank) : all_(std::move(all)), rank_(rank) {
    for (int other = 0; other < size(); ++other)
        if (at(other).host == own().host) local_.push_back(other);
}

int Neighbours::local_rank() const { return static_cast<int>(std::ranges::find(local_, rank_) - local_.begin()); }

int Neighbours::largest_local_size() const {
    std::unordered_map<std::string_view, int> ranks;
    int largest = 0;
    for (const auto& each : all_) largest = std::max(largest, ++ranks[each.host]);
    return largest;
}

Neighbours::Arena Neighbours::least_arena() const {
    Arena least{~std::uint64_t{0}, false};
    for (const auto& each : all_) {
        const bool is_wish = each.arena_bytes > 0;
        const auto bytes = is_wish ? each.arena_bytes : std::bit_ceil(each.memory_bytes);
        if (bytes < least.bytes) least = {bytes, is_wish};
    }
    return least;
}

void Neighbours::settle(Settings& settings) const {
    settings.rank = rank_;
    settings.size = size();
    settings.local_rank = local_rank();
    settings.local_size = local_size();
    settings.threads = threads(rank_);
    settings.crowded = is_crowded();
    if (settings.bind && !settings.crowded) settings.cpus = processors();
    settings.devices = platform::devices_towards(other_hosts());
}

/// The addresses of each.
std::vector<std::string> Neighbours::other_hosts() const {
    std::vector<std::string> found;
    for (const auto& each : all_)
        if (each.host != own().host && std::ranges::find(found, each.addresses) == found.end())
            found.push_back(each.addresses);
    return found;
}

/// Ranks that may run on the very same processors as `rank`; mpirun binds ranks or lets them share all.
std::vector<int> Neighbours::sharers(int rank) const {
    std::vector<int> found;
    for (int other = 0; other < size(); ++other)
        if (at(other).machine == at(rank).machine && at(other).cpus == at(rank).cpus) found.push_back(other);
    return found;
}

int Neighbours::share(int rank) const {
    return std::max(1, static_cast<int>(at(rank).cpus.size() / sharers(rank).size()));
}

int Neighbours::threads(int rank) const { return at(rank).threads > 0 ? at(rank).threads : share(rank); }

/// Of a whole machine, since hosts that are namespaces share its processors; and the same for all its ranks, which
/// choose the way of their barriers by it.
bool Neighbours::is_crowded() const {
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

/// A part of the processors that no other rank gets; none, hence unbound, where sets overlap in other ways.
std::vector<int> Neighbours::processors() const {
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
