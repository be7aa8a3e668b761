#include "fabric/wireup/host_map.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "platform/interfaces.hpp"
#include "platform/thread.hpp"

namespace kumiki::fabric {

namespace {

/// The number of threads of each rank: what the user has set, or an equal part of the processors that are left by the
/// ranks on the same processors for which it is set.
std::vector<int> threads_of(const std::vector<Introduction>& all) {
    struct Left {
        int processors = 0, parts = 0;
    };
    std::map<std::pair<std::string_view, std::vector<int>>, Left> places;
    const auto place = [&](const Introduction& rank) -> Left& { return places[{rank.machine, rank.cpus}]; };
    for (const auto& rank : all) {
        place(rank).processors -= rank.threads;
        place(rank).parts += rank.threads == 0;
    }
    std::vector<int> threads;
    for (const auto& rank : all) {
        const auto [left, parts] = place(rank);
        threads.push_back(rank.threads > 0 ? rank.threads
                                           : std::max(1, (static_cast<int>(rank.cpus.size()) + left) / parts));
    }
    return threads;
}

} // namespace

HostMap::HostMap(std::vector<Introduction> all, int rank)
    : all_(std::move(all)), rank_(rank), threads_(threads_of(all_)) {
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
    settings.threads = {threads(rank_)};
    settings.job_threads = threads_;
    settings.crowded = is_crowded();
    settings.cpus = processors(settings.bind);
    settings.network_devices = platform::devices_towards(other_hosts());
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

/// Whether another rank may run on some of this rank's processors, but not on the same set of them.
bool HostMap::overlaps() const {
    for (int other = 0; other < size(); ++other)
        if (at(other).machine == own().machine && at(other).cpus != own().cpus &&
            std::ranges::find_first_of(at(other).cpus, own().cpus) != at(other).cpus.end())
            return true;
    return false;
}

/// The processor of each thread of this rank: one that no other thread has, or, where there are too few and the user
/// wants it, a shared one. Empty: nothing is bound. Ranks with the same processors get theirs side by side; where sets
/// overlap without being equal nothing is bound, because no rank can tell which processors the other one uses.
std::vector<int> HostMap::processors(Binding bind) const {
    const bool may_share = bind == Binding::shared;
    const auto& cpus = own().cpus;
    if (bind == Binding::none || cpus.empty() || overlaps() || (is_crowded() && !may_share)) return {};
    int before = 0, all = 0;
    bool equal = true;
    const auto together = sharers(rank_);
    for (const int other : together) {
        if (other < rank_) before += threads(other);
        all += threads(other);
        equal = equal && threads(other) == threads(rank_);
    }
    const auto places = cpus.size(), wanted = static_cast<std::size_t>(all);
    // Ranks of equal size lie as far apart as they can.
    const auto spare =
        equal && wanted < places ? places / together.size() - static_cast<std::size_t>(threads(rank_)) : 0;
    const auto index = static_cast<std::size_t>(std::ranges::find(together, rank_) - together.begin());
    std::vector<int> chosen;
    for (int thread = 0; thread < threads(rank_); ++thread) {
        const auto place = static_cast<std::size_t>(before + thread);
        chosen.push_back(cpus[wanted > places ? platform::shared_place(place, wanted, places) : place + index * spare]);
    }
    return chosen;
}

} // namespace kumiki::fabric
