#pragma once

#include <hwloc.h>
#include <memory>
#include <string>
#include <vector>

#include "error/result.hpp"

namespace kumiki::topology {

/// How much hwloc looks for.
enum class Detail {
    cores,     ///< only what is needed to place threads, which is fast: no devices, no first-level caches
    everything ///< the whole machine with its caches and devices, including the part that a cpuset withholds from this
               ///< process
};

struct FreeBitmap {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Cpuset = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

/// hwloc's view of the machine, or of the one that HWLOC_SYNTHETIC or HWLOC_XMLFILE describes. Only this room uses
/// hwloc; all others use Core (cores.hpp) or Machine (machine.hpp).
class HwlocTopology {
public:
    static Result<HwlocTopology> load(Detail detail);

    hwloc_topology_t get() const { return topology_.get(); }
    bool is_this_machine() const { return hwloc_topology_is_thissystem(get()) != 0; }
    /// The processors that cpuset and affinity mask allow this process; on a described machine, all of them.
    Cpuset usable() const;
    std::vector<hwloc_obj_t> all(hwloc_obj_type_t type) const;

private:
    explicit HwlocTopology(hwloc_topology_t topology) : topology_(topology) {}
    struct Destroy {
        void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
    };
    std::unique_ptr<hwloc_topology, Destroy> topology_;
};

/// The processors of a set, as the operating system numbers them, in ascending order.
std::vector<int> processors_of(hwloc_const_cpuset_t set);

/// What hwloc knows about an object under this name; empty, if nothing.
std::string info(hwloc_obj_t object, const char* name);

} // namespace kumiki::topology
