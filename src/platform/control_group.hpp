#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace kumiki::platform {

/// The folders of the control groups, of version 1 or 2, by which `controller` ("cpu", "memory") limits this process. A
/// group limits everything inside it, so there is one folder for each level up to the mount point. A folder may be
/// missing, as in a container that sees only a part of them. `root` is the folder that contains proc and sys.
std::vector<std::filesystem::path> control_groups(std::string_view controller, const std::filesystem::path& root = "/");

} // namespace kumiki::platform
