#pragma once

#include <filesystem>
#include <optional>

namespace kumiki::topology {

/// The processor time, in processors, that the cgroups of this process allow (1.5 with a container's `--cpus 1.5`);
/// nothing if there is no limit. `root` is the folder that contains proc and sys.
std::optional<double> processor_quota(const std::filesystem::path& root = "/");

} // namespace kumiki::topology
