#include "dsm/contents.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "platform/memory.hpp"

namespace kumiki::dsm {
namespace {

struct Run {
    std::uint64_t begin, bytes;
};

bool is_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

/// Runs of pages that are not zeros. A few pages of zeros between two of them cost less than another message.
std::vector<Run> runs_of(std::span<const std::byte> memory) {
    const std::size_t page = platform::page_size(), gap = 16 * page;
    std::vector<Run> runs;
    for (std::size_t at = 0; at < memory.size(); at += page) {
        if (is_zero(memory.subspan(at, page))) continue;
        if (!runs.empty() && at - (runs.back().begin + runs.back().bytes) <= gap)
            runs.back().bytes = at + page - runs.back().begin;
        else runs.push_back({at, page});
    }
    return runs;
}

} // namespace

Result<> copy_contents(collective::Collectives& collectives, bool is_root, std::byte* frames,
                       std::span<const std::byte> from) {
    std::vector<Run> runs;
    if (is_root) runs = runs_of(from);
    std::uint64_t count = runs.size();
    if (auto told = collectives.broadcast(&count, sizeof count, 0); !told) return told;
    if (count == 0) return {};
    runs.resize(count);
    if (auto told = collectives.broadcast(runs.data(), count * sizeof(Run), 0); !told) return told;
    for (const Run& run : runs) {
        if (is_root) std::memcpy(frames + run.begin, from.data() + run.begin, run.bytes);
        if (auto sent = collectives.broadcast(frames + run.begin, run.bytes, 0); !sent) return sent;
    }
    return {};
}

} // namespace kumiki::dsm
