#pragma once

#include <filesystem>
#include <optional>

namespace kumiki::topology {

/// Processors' worth of time that the cgroups of this process allow (a container's `--cpus 1.5`); nothing without a
/// limit. `root` is the folder that holds proc and sys.
std::optional<double> processor_quota(const std::filesystem::path& root = "/");

} // namespace kumiki::topology
