#include "topology/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <sys/utsname.h>

#include "topology/accelerators.hpp"
#include "topology/hwloc_topology.hpp"
#include "topology/memory.hpp"
#include "topology/quota.hpp"

namespace kumiki::topology {
namespace {

std::vector<Package> packages_of(const HwlocTopology& topology) {
    auto objects = topology.all(HWLOC_OBJ_PACKAGE);
    if (objects.empty()) objects = {hwloc_get_root_obj(topology.get())};
    std::vector<Package> packages;
    for (const hwloc_obj_t object : objects) {
        Package package{static_cast<int>(object->logical_index), info(object, "CPUModel"), {}};
        const auto type = topology.all(HWLOC_OBJ_CORE).empty() ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE;
        for (hwloc_obj_t core = nullptr;
             (core = hwloc_get_next_obj_inside_cpuset_by_type(topology.get(), object->cpuset, type, core)) != nullptr;)
            package.cores.push_back(processors_of(core->cpuset));
        packages.push_back(std::move(package));
    }
    return packages;
}

std::string cache_type(hwloc_obj_cache_type_t type) {
    switch (type) {
    case HWLOC_OBJ_CACHE_DATA: return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION: return "instruction";
    case HWLOC_OBJ_CACHE_UNIFIED: break;
    }
    return "unified";
}

std::vector<MemoryNode> memory_of(const HwlocTopology& topology) {
    std::vector<MemoryNode> nodes;
    for (const hwloc_obj_t object : topology.all(HWLOC_OBJ_NUMANODE))
        nodes.push_back(
            {static_cast<int>(object->os_index), object->attr->numanode.local_memory, processors_of(object->cpuset)});
    if (topology.is_this_machine()) count_unprepared(nodes);
    return nodes;
}

std::vector<CacheKind> caches_of(const HwlocTopology& topology) {
    std::vector<CacheKind> kinds;
    for (const auto level : {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
                             HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L3ICACHE, HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L1ICACHE})
        for (const hwloc_obj_t object : topology.all(level)) {
            const auto& cache = object->attr->cache;
            const auto is_same = [&](const CacheKind& kind) {
                return kind.level == static_cast<int>(cache.depth) && kind.type == cache_type(cache.type) &&
                       kind.bytes == cache.size;
            };
            auto kind = std::ranges::find_if(kinds, is_same);
            if (kind == kinds.end())
                kind = kinds.insert(
                    kinds.end(),
                    CacheKind{static_cast<int>(cache.depth), cache_type(cache.type), cache.size, cache.linesize, {}});
            kind->shared_by.push_back(processors_of(object->cpuset));
        }
    return kinds;
}

/// A hypervisor is visible in the processor's flags (x86) or under /sys/hypervisor (Xen); on other machines the name of
/// the maker tells.
bool runs_on_hypervisor(const std::string& product) {
    std::error_code ignored;
    if (std::filesystem::exists("/sys/hypervisor/type", ignored)) return true;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("flags")) return (line + ' ').find(" hypervisor ") != line.npos;
    return product.find("Virtual") != product.npos || product.find("KVM") != product.npos ||
           product.find("QEMU") != product.npos;
}

void describe_system(Machine& machine) {
    utsname names{};
    if (uname(&names) == 0) {
        machine.host = names.nodename;
        machine.system = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
    }
    machine.is_virtual = runs_on_hypervisor(machine.product);
}

/// The part of the machine that the affinity mask, cpuset and quota of this process allow.
Usable usable_of(const HwlocTopology& topology, const Machine& machine) {
    const Cpuset set = topology.usable();
    Usable usable;
    if (machine.this_machine) usable.quota = processor_quota();
    usable.processors = processors_of(set.get());
    const auto may_use = [&](int processor) {
        return hwloc_bitmap_isset(set.get(), static_cast<unsigned>(processor)) != 0;
    };
    for (const Package& package : machine.packages)
        usable.cores += static_cast<int>(
            std::ranges::count_if(package.cores, [&](const auto& core) { return std::ranges::any_of(core, may_use); }));
    return usable;
}

} // namespace

int Machine::cores() const {
    return std::accumulate(packages.begin(), packages.end(), 0, [](int sum, const Package& package) {
        return sum + static_cast<int>(package.cores.size());
    });
}

int Machine::processors() const {
    int count = 0;
    for (const Package& package : packages)
        for (const auto& core : package.cores) count += static_cast<int>(core.size());
    return count;
}

std::uint64_t Machine::memory_bytes() const {
    return std::accumulate(memory.begin(), memory.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const MemoryNode& node) { return sum + node.bytes; });
}

bool Machine::simultaneous_multithreading() const { return processors() > cores(); }

Result<Machine> describe_machine() {
    auto topology = HwlocTopology::load(Detail::everything);
    if (!topology) return tl::unexpected(topology.error());
    Machine machine;
    machine.this_machine = topology->is_this_machine();
    machine.product = info(hwloc_get_root_obj(topology->get()), "DMIProductName");
    machine.packages = packages_of(*topology);
    machine.memory = memory_of(*topology);
    machine.caches = caches_of(*topology);
    machine.accelerators = accelerators_of(*topology);
    machine.usable = usable_of(*topology, machine);
    if (machine.this_machine) describe_system(machine);
    return machine;
}

} // namespace kumiki::topology
