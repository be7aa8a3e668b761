#include "launch/command/devices.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

#include "text/text.hpp"
#include "topology/accelerators.hpp"
#include "topology/ranges.hpp"

namespace kumiki::launch {
namespace {

using topology::Accelerator;

/// The variable by which a vendor's interface learns which devices a process may see.
struct Vendor {
    std::string_view name;
    const char* variable; ///< its value is a list of handles, separated by commas
    bool takes_uuids;
    bool takes_none; ///< an empty list hides all devices
};

constexpr std::array vendors = {Vendor{"nvidia", "CUDA_VISIBLE_DEVICES", true, true},
                                Vendor{"amd", "ROCR_VISIBLE_DEVICES", false, true},
                                Vendor{"intel", "ZE_AFFINITY_MASK", false, false}};

/// A device that may be given to a rank.
struct Usable {
    const Accelerator* device;
    std::string handle; ///< in the value of the vendor's variable
};

/// Whether an entry of a vendor's variable means the device, which is number `index` among those of its vendor.
bool names(std::string_view entry, const Accelerator& device, std::size_t index) {
    if (const auto number = text::number<std::size_t>(entry)) return *number == index;
    // CUDA accepts the beginning of an identifier; AMD puts GPU- before it.
    return !device.uuid.empty() && !entry.empty() && (device.uuid.starts_with(entry) || entry.ends_with(device.uuid));
}

/// The devices that the launcher may give to ranks.
std::vector<Usable> usable_of(const std::vector<Accelerator>& devices, Lookup lookup) {
    std::vector<Usable> usable;
    std::vector<std::size_t> counts(vendors.size());
    for (const Accelerator& device : devices) {
        const auto vendor = std::ranges::find(vendors, device.vendor, &Vendor::name);
        if (vendor == vendors.end()) {
            usable.push_back({&device, ""});
            continue;
        }
        const std::size_t index = counts[static_cast<std::size_t>(vendor - vendors.begin())]++;
        const char* const limit = lookup(vendor->variable);
        if (limit == nullptr) {
            usable.push_back(
                {&device, vendor->takes_uuids && !device.uuid.empty() ? device.uuid : std::to_string(index)});
            continue;
        }
        const auto entries = text::split(limit, ',');
        const auto entry = std::ranges::find_if(entries, [&](const auto& each) { return names(each, device, index); });
        if (entry != entries.end()) usable.push_back({&device, std::string(*entry)});
    }
    return usable;
}

/// The devices that `request` asks for.
Result<std::vector<int>> numbers_of(const RankRequest& rank, const std::vector<Usable>& usable) {
    std::vector<int> all;
    for (const Usable& each : usable) all.push_back(each.device->number);
    if (rank.devices.all) return all;
    for (const int number : rank.devices.numbers)
        if (std::ranges::find(all, number) == all.end())
            return fail(KUMIKI_ERROR_ARGUMENT,
                        fmt::format("rank {}: there is no device {} that this job may use; {} (`kumiki topology` shows "
                                    "them)",
                                    rank.rank, number,
                                    all.empty() ? "there is none here"
                                                : fmt::format("it may use devices {}", topology::as_ranges(all))));
    return rank.devices.numbers;
}

/// Part `index` of `parts` of the list; if the list is shorter than that, one element, which several parts share.
std::vector<int> part_of(const std::vector<int>& list, std::size_t index, std::size_t parts) {
    if (list.empty()) return {};
    if (list.size() < parts) return {list[index * list.size() / parts]};
    return {list.begin() + static_cast<std::ptrdiff_t>(index * list.size() / parts),
            list.begin() + static_cast<std::ptrdiff_t>((index + 1) * list.size() / parts)};
}

/// The variables that show a rank its devices and hide the others of the machine.
Variables variables_for(const std::vector<int>& numbers, const std::vector<Accelerator>& devices,
                        const std::vector<Usable>& usable) {
    Variables variables;
    for (const Vendor& vendor : vendors) {
        if (std::ranges::find(devices, vendor.name, &Accelerator::vendor) == devices.end()) continue;
        std::vector<std::string> handles;
        for (const int number : numbers)
            for (const Usable& each : usable)
                if (each.device->number == number && each.device->vendor == vendor.name) handles.push_back(each.handle);
        if (!handles.empty() || vendor.takes_none)
            variables.emplace_back(vendor.variable, fmt::format("{}", fmt::join(handles, ",")));
        // By default CUDA counts the fastest device first, but numbers follow the bus.
        if (vendor.name == "nvidia") variables.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
        // HIP counts anew among those that ROCR_VISIBLE_DEVICES shows, and without a variable of its own it would
        // follow CUDA's.
        if (vendor.name == "amd")
            variables.emplace_back("HIP_VISIBLE_DEVICES",
                                   fmt::format("{}", fmt::join(std::views::iota(std::size_t{0}, handles.size()), ",")));
    }
    return variables;
}

} // namespace

Result<> give_devices(Placement& placement, const std::vector<RankRequest>& ranks,
                      const std::vector<Accelerator>& devices, Lookup lookup) {
    const auto usable = usable_of(devices, lookup);
    std::vector<int> taken; // for single ranks
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (!ranks[rank].devices.given) continue;
        auto numbers = numbers_of(ranks[rank], usable);
        if (!numbers) return tl::unexpected(numbers.error());
        if (!ranks[rank].devices.divided) taken.insert(taken.end(), numbers->begin(), numbers->end());
        placement.ranks[rank].devices = std::move(*numbers);
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const DeviceRequest& request = ranks[rank].devices;
        if (!request.given) continue;
        auto& own = placement.ranks[rank].devices;
        if (request.divided) {
            const auto same = [&](const RankRequest& other) { return other.devices == request; };
            const auto before = std::count_if(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(rank), same);
            std::erase_if(own, [&](int number) { return std::ranges::find(taken, number) != taken.end(); });
            own = part_of(own, static_cast<std::size_t>(before),
                          static_cast<std::size_t>(std::ranges::count_if(ranks, same)));
        }
        for (auto& variable : variables_for(own, devices, usable))
            placement.ranks[rank].variables.push_back(std::move(variable));
    }
    return {};
}

Result<> find_devices(Placement& placement, const std::vector<RankRequest>& ranks) {
    if (std::ranges::none_of(ranks, [](const RankRequest& rank) { return rank.devices.given; })) return {};
    const auto devices = topology::computing_accelerators();
    if (!devices) return tl::unexpected(devices.error());
    const Lookup nothing = [](const char*) -> const char* { return nullptr; };
    const Lookup own = [](const char* name) -> const char* { return std::getenv(name); };
    return give_devices(placement, ranks, *devices, placement.this_machine ? own : nothing);
}

Result<Placement> place_with_devices(const topology::UsableCores& usable, const std::vector<RankRequest>& ranks,
                                     Binding bind) {
    auto placement = place(usable, ranks, bind);
    if (!placement) return placement;
    if (auto given = find_devices(*placement, ranks); !given) return tl::unexpected(given.error());
    return placement;
}

} // namespace kumiki::launch
