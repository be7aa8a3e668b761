#include "topology/accelerators.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

#include "topology/hwloc_topology.hpp"

namespace kumiki::topology {
namespace {

/// What a backend of hwloc reports about a device that it sees.
struct Backend {
    std::string_view name; ///< hwloc's own
    std::string_view vendor;
    const char* uuid;   ///< the name under which it reports the device's identity; null: it does not
    const char* memory; ///< the same for the size of the device's memory in KiB
};

constexpr std::array backends = {
    Backend{"NVML", "nvidia", "NVIDIAUUID", nullptr}, Backend{"CUDA", "nvidia", nullptr, "CUDAGlobalMemorySize"},
    Backend{"RSMI", "amd", "AMDUUID", "RSMIVRAMSize"}, Backend{"LevelZero", "intel", nullptr, "LevelZeroHBMSize"},
    Backend{"OpenCL", "", nullptr, "OpenCLGlobalMemorySize"}};

const Backend* backend_of(hwloc_obj_t object) {
    const auto found = std::ranges::find(backends, info(object, "Backend"), &Backend::name);
    return found == backends.end() ? nullptr : &*found;
}

hwloc_obj_t bus_device_of(hwloc_obj_t object) {
    while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
    return object;
}

std::string address_of(hwloc_obj_t bus_device) {
    const auto& pci = bus_device->attr->pcidev;
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain), pci.bus, pci.dev, pci.func);
}

/// The makers whose devices compute, by their identifiers on the bus; empty for others.
std::string_view maker_of(hwloc_obj_t bus_device) {
    switch (bus_device->attr->pcidev.vendor_id) {
    case 0x10de: return "nvidia";
    case 0x1002: return "amd";
    case 0x8086: return "intel";
    default: return "";
    }
}

/// Displays and accelerators, by the class of the device on the bus.
bool is_display_or_accelerator(hwloc_obj_t bus_device) {
    const int base = bus_device->attr->pcidev.class_id >> 8;
    return base == 0x03 || base == 0x12;
}

int memory_node_near(const HwlocTopology& topology, hwloc_obj_t object) {
    const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology.get(), object);
    return near == nullptr ? -1 : hwloc_bitmap_first(near->nodeset);
}

/// The accelerators found so far.
class Finder {
public:
    explicit Finder(const HwlocTopology& topology) : topology_(topology) {}

    void add_bus_device(hwloc_obj_t object) {
        if (is_display_or_accelerator(object) && !maker_of(object).empty()) on_bus(object);
    }

    void add_driver_device(hwloc_obj_t object) {
        const auto type = object->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_COPROC && type != HWLOC_OBJ_OSDEV_GPU) return;
        const hwloc_obj_t bus_device = bus_device_of(object);
        const Backend* backend = backend_of(object);
        const std::string uuid = backend != nullptr && backend->uuid != nullptr ? info(object, backend->uuid) : "";
        Found& found = bus_device != nullptr ? on_bus(bus_device) : without_bus(object, uuid);
        Accelerator& device = found.device;
        device.names.emplace_back(object->name == nullptr ? "" : object->name);
        if (const auto model = info(object, "GPUModel"); !model.empty()) device.model = model;
        found.seen_to_compute = found.seen_to_compute || type == HWLOC_OBJ_OSDEV_COPROC || backend != nullptr;
        if (backend == nullptr) return;
        if (!uuid.empty()) device.uuid = uuid;
        if (device.vendor.empty()) device.vendor = backend->vendor;
        if (backend->memory != nullptr)
            device.memory_bytes = std::max(device.memory_bytes, kibibytes(object, backend->memory));
    }

    std::vector<Accelerator> all() const {
        std::vector<Accelerator> all;
        for (const bool computes : {true, false})
            for (const Found& found : found_) {
                if (this->computes(found) != computes) continue;
                all.push_back(found.device);
                Accelerator& device = all.back();
                if (computes) device.number = static_cast<int>(all.size()) - 1;
                device.kind = device.vendor.empty() && !computes ? "display" : "coprocessor";
                device.name = device.names.empty() ? device.bus : device.names.front();
            }
        return all;
    }

private:
    struct Found {
        Accelerator device;
        bool seen_to_compute = false; ///< by a driver
    };

    /// A device of a known maker counts as computing even if hwloc was built without the part that would show this. But
    /// if that part shows other devices of the same maker, the driver does not serve this one.
    bool computes(const Found& found) const {
        const auto of_same_maker = [&](const Found& other) {
            return other.seen_to_compute && other.device.vendor == found.device.vendor;
        };
        return found.seen_to_compute || (!found.device.vendor.empty() && std::ranges::none_of(found_, of_same_maker));
    }

    static std::uint64_t kibibytes(hwloc_obj_t object, const char* name) {
        const auto text = info(object, name);
        std::uint64_t size = 0;
        std::from_chars(text.data(), text.data() + text.size(), size);
        return size * 1024;
    }

    Found& on_bus(hwloc_obj_t bus_device) {
        const auto address = address_of(bus_device);
        const auto same = [&](const Found& found) { return found.device.bus == address; };
        if (const auto found = std::ranges::find_if(found_, same); found != found_.end()) return *found;
        Found& found = found_.emplace_back();
        found.device.bus = address;
        found.device.vendor = maker_of(bus_device);
        found.device.model = info(bus_device, "PCIDevice");
        found.device.memory_node = memory_node_near(topology_, bus_device);
        return found;
    }

    Found& without_bus(hwloc_obj_t object, const std::string& uuid) {
        const auto same = [&](const Found& found) { return !uuid.empty() && found.device.uuid == uuid; };
        if (const auto found = std::ranges::find_if(found_, same); found != found_.end()) return *found;
        Found& found = found_.emplace_back();
        found.device.memory_node = memory_node_near(topology_, object);
        return found;
    }

    const HwlocTopology& topology_;
    std::vector<Found> found_;
};

} // namespace

std::vector<Accelerator> accelerators_of(const HwlocTopology& topology) {
    Finder finder(topology);
    for (const hwloc_obj_t object : topology.all(HWLOC_OBJ_PCI_DEVICE)) finder.add_bus_device(object);
    for (const hwloc_obj_t object : topology.all(HWLOC_OBJ_OS_DEVICE)) finder.add_driver_device(object);
    return finder.all();
}

Result<std::vector<Accelerator>> computing_accelerators() {
    const auto topology = HwlocTopology::load(Detail::everything);
    if (!topology) return tl::unexpected(topology.error());
    auto found = accelerators_of(*topology);
    std::erase_if(found, [](const Accelerator& device) { return device.number < 0; });
    return found;
}

} // namespace kumiki::topology
