#include "openmp/ranks/memory/variable_homes.hpp"

#include <algorithm>

#include "dsm/distributed_homes.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {

std::vector<dsm::HomeRun> home_runs(std::span<const VariableHomes> variables, const Image& image, int ranks) {
    std::vector<dsm::HomeRun> runs;
    const std::size_t page = platform::page_size();
    for (const VariableHomes& each : variables) {
        // What comes before the data has been made read-only by the dynamic linker.
        const std::byte* const begin = std::max<const std::byte*>(image.base + each.address, image.data.data());
        const std::byte* const end =
            std::min<const std::byte*>(image.base + each.address + each.bytes, image.data.data() + image.data.size());
        if (begin >= end) continue;
        const auto offset = [&](const std::byte* at) { return static_cast<std::size_t>(at - image.data.data()); };
        dsm::append_homes(runs, each.distribution, {offset(begin), each.bytes, offset(end)}, page, ranks);
    }
    for (const auto& variable : image.of_libraries) {
        const auto begin = static_cast<std::size_t>(variable.data() - image.data.data());
        for (std::size_t at = begin / page; at * page < begin + variable.size() && at * page < image.data.size(); ++at)
            dsm::append_home(runs, at, 0);
    }
    std::ranges::stable_sort(runs, {}, &dsm::HomeRun::first);
    return runs;
}

} // namespace kumiki::openmp
