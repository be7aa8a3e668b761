#include "topology/quota.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace kumiki::topology {
namespace {

namespace fs = std::filesystem;

using Quota = std::optional<double>;

/// The limit that one cgroup sets, whichever version of cgroups it belongs to.
Quota quota_of(const fs::path& cgroup) {
    double quota = 0, period = 0;
    if (std::ifstream file(cgroup / "cpu.max"); file >> quota >> period && period > 0) return quota / period;
    std::ifstream quota_file(cgroup / "cpu.cfs_quota_us"), period_file(cgroup / "cpu.cfs_period_us");
    if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) return quota / period;
    return {};
}

Quota smaller(Quota a, Quota b) {
    if (!a) return b;
    return b ? std::min(*a, *b) : a;
}

/// Every cgroup limits what is inside it, so the strictest from `path` up to the mount point counts.
Quota quota_from(const fs::path& mount, fs::path path) {
    Quota strictest = quota_of(mount);
    for (path = path.relative_path(); !path.empty(); path = path.parent_path())
        strictest = smaller(strictest, quota_of(mount / path));
    return strictest;
}

bool lists_cpu(std::string_view controllers) {
    while (!controllers.empty()) {
        const auto comma = std::min(controllers.find(','), controllers.size());
        if (controllers.substr(0, comma) == "cpu") return true;
        controllers.remove_prefix(std::min(comma + 1, controllers.size()));
    }
    return false;
}

} // namespace

std::optional<double> processor_quota(const fs::path& root) {
    Quota strictest;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) { // "0::/path" (version 2) or "1:cpu,cpuacct:/path" (version 1)
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == line.npos || second == line.npos) continue;
        const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
        const fs::path path(line.substr(second + 1));
        if (controllers.empty()) strictest = smaller(strictest, quota_from(root / "sys/fs/cgroup", path));
        else if (lists_cpu(controllers))
            strictest = smaller(strictest, quota_from(root / "sys/fs/cgroup" / controllers, path));
    }
    return strictest;
}

} // namespace kumiki::topology
