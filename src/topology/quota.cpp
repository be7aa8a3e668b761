#include "topology/quota.hpp"

#include <algorithm>
#include <fstream>

#include "platform/control_group.hpp"

namespace kumiki::topology {
namespace {

/// The limit that one control group, of either version, sets.
std::optional<double> quota_of(const std::filesystem::path& group) {
    double quota = 0, period = 0;
    if (std::ifstream file(group / "cpu.max"); file >> quota >> period && period > 0) return quota / period;
    std::ifstream quota_file(group / "cpu.cfs_quota_us"), period_file(group / "cpu.cfs_period_us");
    if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) return quota / period;
    return {};
}

} // namespace

std::optional<double> processor_quota(const std::filesystem::path& root) {
    std::optional<double> strictest;
    for (const auto& group : platform::control_groups("cpu", root))
        if (const auto quota = quota_of(group)) strictest = std::min(strictest.value_or(*quota), *quota);
    return strictest;
}

} // namespace kumiki::topology
