#include "topology/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <system_error>

namespace kumiki::topology {
namespace {

namespace fs = std::filesystem;

/// The machine's memory in bytes, without the part that firmware and kernel keep; 0 if the system does not report it.
std::uint64_t total_bytes(const fs::path& root) {
    std::ifstream file(root / "proc/meminfo");
    std::string name;
    std::uint64_t kibibytes = 0;
    return file >> name >> kibibytes && name == "MemTotal:" ? kibibytes * 1024 : 0;
}

/// In bytes; 0 if the system does not report it.
std::uint64_t block_bytes(const fs::path& root) {
    std::ifstream file(root / "sys/devices/system/memory/block_size_bytes");
    std::uint64_t bytes = 0;
    return file >> std::hex >> bytes ? bytes : 0;
}

/// The memory blocks of a node: the links memory0, memory1, ... in its folder.
std::uint64_t blocks_of(const fs::path& root, int node) {
    const fs::path folder = root / fmt::format("sys/devices/system/node/node{}", node);
    std::uint64_t count = 0;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder, missing)) {
        const std::string name = entry.path().filename();
        if (name.starts_with("memory") && name.find_first_of("0123456789") == 6) ++count;
    }
    return count;
}

} // namespace

void count_unprepared(std::vector<MemoryNode>& nodes, const fs::path& root) {
    const std::uint64_t block = block_bytes(root);
    std::uint64_t missing = total_bytes(root);
    for (const MemoryNode& node : nodes) missing -= std::min(missing, node.bytes);
    std::vector<std::uint64_t> unprepared;
    std::uint64_t sum = 0;
    for (const MemoryNode& node : nodes) {
        const std::uint64_t there = block * blocks_of(root, node.index);
        sum += unprepared.emplace_back(there - std::min(there, node.bytes));
    }
    if (sum == 0) return;
    // The blocks include memory that the kernel keeps for itself and the total does not, so every node gets the same
    // fraction of its uninitialised memory.
    const double part = std::min(1.0, static_cast<double>(missing) / static_cast<double>(sum));
    for (std::size_t node = 0; node < nodes.size(); ++node)
        nodes[node].bytes += static_cast<std::uint64_t>(part * static_cast<double>(unprepared[node]));
}

} // namespace kumiki::topology
