#include "platform/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "text/text.hpp"

namespace kumiki::platform {
namespace {

namespace fs = std::filesystem;

bool lists(std::string_view controllers, std::string_view controller) {
    return std::ranges::count(text::split(controllers, ','), controller) > 0;
}

void add_levels(std::vector<fs::path>& folders, const fs::path& mount, fs::path path) {
    for (path = path.relative_path(); !path.empty(); path = path.parent_path()) folders.push_back(mount / path);
    folders.push_back(mount);
}

} // namespace

std::vector<fs::path> control_groups(std::string_view controller, const fs::path& root) {
    std::vector<fs::path> folders;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) { // "0::/path" (version 2) or "1:cpu,cpuacct:/path" (version 1)
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == line.npos || second == line.npos) continue;
        const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
        const fs::path path(line.substr(second + 1));
        if (controllers.empty()) add_levels(folders, root / "sys/fs/cgroup", path);
        else if (lists(controllers, controller)) add_levels(folders, root / "sys/fs/cgroup" / controllers, path);
    }
    return folders;
}

} // namespace kumiki::platform
