#include "fabric/shm/segment.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kumiki::fabric::shm {
namespace {

/// The smallest 64-bit machines have 2^47 bytes of user address space; all arenas together take at most half of it.
constexpr std::size_t most_addresses = std::size_t{1} << 46;

std::size_t default_arena(int ranks) {
    return std::min(std::bit_ceil(platform::physical_memory()),
                    std::bit_floor(most_addresses / static_cast<std::size_t>(ranks)));
}

} // namespace

Result<Segment> Segment::create(int ranks, std::size_t arena_bytes) {
    const std::size_t arena =
        platform::round_up(arena_bytes == 0 ? default_arena(ranks) : arena_bytes, platform::huge_page);
    if (arena > most_addresses / static_cast<std::size_t>(ranks))
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("KUMIKI_ARENA={} for each of {} ranks is more than the address space has; the most "
                                "is {}",
                                arena_bytes, ranks, most_addresses / static_cast<std::size_t>(ranks)));
    const auto count = static_cast<std::size_t>(ranks);
    auto file = platform::SharedFile::create(arena_offset(count) + count * arena);
    if (!file) return tl::unexpected(file.error());
    auto mapping = platform::Mapping::of(*file);
    if (!mapping) return tl::unexpected(mapping.error());
    platform::exclude_from_dumps(mapping->data(), mapping->size());
    Segment segment(std::move(*file), std::move(*mapping));
    segment.header().version = layout_version;
    segment.header().ranks = count;
    segment.header().arena_bytes = arena;
    segment.header().identity = platform::random_number();
    return segment;
}

Result<Segment> Segment::adopt(int descriptor, int ranks) {
    auto file = platform::SharedFile::adopt(descriptor);
    const auto count = static_cast<std::size_t>(ranks);
    const auto size = file.size();
    if (!size) return tl::unexpected(size.error());
    if (*size < arena_offset(count))
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("KUMIKI_SEGMENT={}: this file descriptor does not hold the memory of a job of {} ranks; "
                        "it is set by the launcher, not by hand",
                        descriptor, ranks));
    auto mapping = platform::Mapping::of(file);
    if (!mapping) return tl::unexpected(mapping.error());
    const auto& header = *reinterpret_cast<const Header*>(mapping->data());
    if (header.version != layout_version)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    "the launcher and this program were built with different versions of Kumiki; build the program "
                    "with the version of the kumiki-run that starts it");
    if (header.ranks != count)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("KUMIKI_SIZE={} but the job's memory is for {} ranks; these are set by the "
                                "launcher, not by hand",
                                ranks, header.ranks));
    platform::exclude_from_dumps(mapping->data(), mapping->size());
    return Segment(std::move(file), std::move(*mapping));
}

} // namespace kumiki::fabric::shm
