// How the ranks of a host pass data of any length to each other over their boards, chunk by chunk. All of them know all
// lengths, and therefore the number of chunks.
#include <algorithm>
#include <cstring>
#include <vector>

#include "collective/collectives.hpp"

namespace kumiki::collective {

void Collectives::publish(std::span<const std::byte> data, std::uint64_t offset) {
    turn_ ^= 1;
    Board& mine = group_.own().board;
    mine.notice[turn_].offset = offset;
    if (!data.empty()) std::memcpy(mine.data[turn_].data(), data.data(), data.size());
    barrier_.meet_host();
}

void Collectives::spread(std::span<std::byte> data, int root) {
    const bool from_here = group_.host_rank() == root;
    for (std::size_t begin = 0; begin < data.size(); begin += Board::capacity) {
        const auto chunk = data.subspan(begin, std::min(Board::capacity, data.size() - begin));
        publish(from_here ? std::span<const std::byte>(chunk) : std::span<const std::byte>{});
        if (!from_here) std::memcpy(chunk.data(), published(root), chunk.size());
    }
}

void Collectives::collect(std::span<const std::byte> own, const Lengths& length, const Places& place) {
    std::size_t longest = 0;
    for (int local = 0; local < group_.host_size(); ++local) longest = std::max(longest, length(local));
    if (longest == 0) return;
    // Longer data in a region need not go over the board.
    const bool direct = own.size() > Board::capacity && fabric_.memory().in_region(own.data(), own.size());
    std::vector<char> taken(static_cast<std::size_t>(group_.host_size())); // from a region
    for (std::size_t begin = 0; begin < longest; begin += Board::capacity) {
        const auto chunk = [begin](std::size_t bytes) {
            return std::min(Board::capacity, bytes - std::min(begin, bytes));
        };
        if (direct) publish({}, fabric_.memory().offset(own.data()));
        else publish(own.subspan(std::min(begin, own.size()), chunk(own.size())));
        for (int step = 0; step < group_.host_size() && place; ++step) {
            // Each rank begins with a different one, so that they do not all read from the same rank.
            const int local = (group_.host_rank() + step) % group_.host_size();
            std::byte* const into = place(local);
            if (local == group_.host_rank() || taken[static_cast<std::size_t>(local)]) continue;
            if (const std::uint64_t offset = notice(local).offset; offset != Board::nowhere) {
                fabric_.memory().copy(into, group_.arena(local) + offset, length(local));
                taken[static_cast<std::size_t>(local)] = 1;
            } else if (chunk(length(local)) > 0) {
                std::memcpy(into + begin, published(local), chunk(length(local)));
            }
        }
    }
    barrier_.meet_host(); // now the owners may change data that were read from regions
    if (!place || own.empty()) return;
    std::byte* const into = place(group_.host_rank());
    if (into != own.data()) std::memcpy(into, own.data(), own.size());
}

void Collectives::deal(int root, const Lengths& length, const Sources& source, std::byte* into) {
    const std::size_t slice = Board::capacity / static_cast<std::size_t>(group_.host_size());
    std::size_t longest = 0;
    for (int local = 0; local < group_.host_size(); ++local) longest = std::max(longest, length(local));
    const int here = group_.host_rank();
    for (std::size_t begin = 0; begin < longest; begin += slice) {
        const auto part = [&](int local) { return std::min(slice, length(local) - std::min(begin, length(local))); };
        turn_ ^= 1;
        if (here == root)
            for (int local = 0; local < group_.host_size(); ++local)
                if (local != root && part(local) > 0)
                    std::memcpy(published(root) + static_cast<std::size_t>(local) * slice, source(local) + begin,
                                part(local));
        barrier_.meet_host();
        if (here != root && part(here) > 0)
            std::memcpy(into + begin, published(root) + static_cast<std::size_t>(here) * slice, part(here));
    }
    if (here == root && length(root) > 0 && into != source(root)) std::memcpy(into, source(root), length(root));
}

} // namespace kumiki::collective
