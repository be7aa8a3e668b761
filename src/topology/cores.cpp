#include "topology/cores.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "topology/hwloc_topology.hpp"
#include "topology/quota.hpp"
#include "topology/ranges.hpp"

namespace kumiki::topology {
namespace {

/// The number of the cache that `object` shares with the most others; -1 if it shares none.
int last_level_cache(hwloc_obj_t object) {
    int found = -1;
    for (hwloc_obj_t parent = object->parent; parent != nullptr; parent = parent->parent)
        if (hwloc_obj_type_is_dcache(parent->type)) found = static_cast<int>(parent->logical_index);
    return found;
}

int package(const HwlocTopology& topology, hwloc_obj_t object) {
    const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, object);
    return found == nullptr ? -1 : static_cast<int>(found->logical_index);
}

} // namespace

Result<UsableCores> usable_cores() {
    auto topology = HwlocTopology::load(Detail::cores);
    if (!topology) return tl::unexpected(topology.error());
    UsableCores usable;
    usable.this_machine = topology->is_this_machine();
    auto objects = topology->all(HWLOC_OBJ_CORE);
    if (objects.empty()) objects = topology->all(HWLOC_OBJ_PU); // some virtual machines do not show their cores
    const Cpuset processors = topology->usable(), of_core(hwloc_bitmap_alloc());
    for (const hwloc_obj_t object : objects) {
        hwloc_bitmap_and(of_core.get(), object->cpuset, processors.get());
        if (hwloc_bitmap_iszero(of_core.get())) continue;
        usable.cores.push_back(
            {processors_of(of_core.get()),
             {last_level_cache(object), hwloc_bitmap_first(object->nodeset), package(*topology, object)},
             static_cast<int>(object->logical_index)});
    }
    if (usable.cores.empty())
        return fail(KUMIKI_ERROR_ENVIRONMENT, "hwloc sees no processor that this process may use");
    const int count = static_cast<int>(usable.cores.size());
    const auto quota = usable.this_machine ? processor_quota() : std::nullopt;
    usable.budget = quota ? std::clamp(static_cast<int>(*quota), 1, count) : count;
    return usable;
}

std::vector<int> numbers_of(const std::vector<Core>& cores) {
    std::vector<int> numbers;
    for (const Core& core : cores) numbers.push_back(core.number);
    std::ranges::sort(numbers);
    return numbers;
}

Result<UsableCores> restrict(UsableCores usable, const std::vector<int>& numbers) {
    const auto own = numbers_of(usable.cores);
    for (const int number : numbers)
        if (!std::ranges::binary_search(own, number))
            return fail(KUMIKI_ERROR_ARGUMENT,
                        fmt::format("there is no core {} that this job may use; it may use cores {} (`kumiki topology` "
                                    "shows them)",
                                    number, as_ranges(own)));
    std::erase_if(usable.cores,
                  [&](const Core& core) { return std::ranges::find(numbers, core.number) == numbers.end(); });
    usable.budget = std::min(usable.budget, static_cast<int>(usable.cores.size()));
    return usable;
}

} // namespace kumiki::topology
