#include "topology/hwloc_topology.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string>

namespace kumiki::topology {
namespace {

/// Keeps hwloc from loading its plug-ins (OpenCL, display and PCI discovery) as long as this object exists: they take
/// more time than everything else, and are not needed to find cores. An environment variable is the only way that hwloc
/// offers; its previous value is restored at the end.
class WithoutPlugins {
public:
    WithoutPlugins() {
        if (const char* value = std::getenv(variable)) previous_ = value;
        setenv(variable, "/dev/null", 1);
    }
    ~WithoutPlugins() {
        if (previous_) setenv(variable, previous_->c_str(), 1);
        else unsetenv(variable);
    }
    WithoutPlugins(const WithoutPlugins&) = delete;
    WithoutPlugins& operator=(const WithoutPlugins&) = delete;

private:
    static constexpr const char* variable = "HWLOC_PLUGINS_PATH";
    std::optional<std::string> previous_;
};

/// What is not asked about. An hwloc before 2.8 (Ubuntu 22.04) reads it in any case.
#if HWLOC_API_VERSION >= 0x00020800
constexpr unsigned long leave_out =
    HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#else
constexpr unsigned long leave_out = 0;
#endif

/// Keeps only the levels that determine which cores are near each other.
void ask_for_cores(hwloc_topology_t topology) {
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const auto type :
         {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_GROUP, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_CORE})
        hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    // The system's tables suffice. To ask each processor itself, this process would have to run on each of them in
    // turn. Cores that this process may not use are counted, too, so that a core has the same number everywhere.
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
                                           HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING | leave_out);
}

void ask_for_everything(hwloc_topology_t topology) {
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
}

/// Uses the machine that HWLOC_SYNTHETIC describes, if it is set. hwloc itself reports no error for a description that
/// it cannot read, and shows this machine instead.
Result<> take_description(hwloc_topology_t topology) {
    const char* const described = std::getenv("HWLOC_SYNTHETIC");
    if (described == nullptr || hwloc_topology_set_synthetic(topology, described) == 0) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("HWLOC_SYNTHETIC={} describes no machine that hwloc can read; unset it, or write it as in "
                            "\"pack:2 core:8 pu:2\"",
                            described));
}

} // namespace

Result<HwlocTopology> HwlocTopology::load(Detail detail) {
    std::optional<WithoutPlugins> fast;
    if (detail == Detail::cores) fast.emplace();
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("hwloc does not start: {}", std::strerror(errno)));
    HwlocTopology owner(topology);
    if (auto taken = take_description(topology); !taken) return tl::unexpected(taken.error());
    detail == Detail::cores ? ask_for_cores(topology) : ask_for_everything(topology);
    if (hwloc_topology_load(topology) != 0)
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format(
                "hwloc cannot tell what this machine is: {}; `lstopo` shows more, and the variables HWLOC_XMLFILE and "
                "HWLOC_SYNTHETIC must be unset or right",
                std::strerror(errno)));
    return owner;
}

std::vector<hwloc_obj_t> HwlocTopology::all(hwloc_obj_type_t type) const {
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(get(), type, object)) != nullptr;)
        objects.push_back(object);
    return objects;
}

Cpuset HwlocTopology::usable() const {
    Cpuset usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(get())));
    const Cpuset bound(hwloc_bitmap_alloc());
    if (is_this_machine() && hwloc_get_cpubind(get(), bound.get(), HWLOC_CPUBIND_PROCESS) == 0)
        hwloc_bitmap_and(usable.get(), usable.get(), bound.get());
    return usable;
}

std::vector<int> processors_of(hwloc_const_cpuset_t set) {
    std::vector<int> processors;
    if (set == nullptr) return processors;
    for (int processor = hwloc_bitmap_first(set); processor >= 0; processor = hwloc_bitmap_next(set, processor))
        processors.push_back(processor);
    return processors;
}

std::string info(hwloc_obj_t object, const char* name) {
    const char* value = hwloc_obj_get_info_by_name(object, name);
    return value == nullptr ? "" : value;
}

} // namespace kumiki::topology
