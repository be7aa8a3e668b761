#include "fabric/host_memory.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "platform/memory.hpp"

namespace kumiki::fabric {

HostMemory::HostMemory(const Settings& settings, std::shared_ptr<const shm::Segment> segment)
    : segment_(std::move(segment)),
      rank_(settings.rank),
      size_(settings.size),
      host_rank_(settings.local_rank),
      host_size_(settings.local_size),
      arena_(segment_->arena(host_rank_)),
      own_(&segment_->block(host_rank_)),
      blocks_(static_cast<std::size_t>(size_)),
      arenas_(static_cast<std::size_t>(size_)),
      locals_(static_cast<std::size_t>(size_), -1),
      ranks_(static_cast<std::size_t>(host_size_), -1),
      nontemporal_bytes_(settings.nontemporal_bytes),
      pin_(settings.pin),
      regions_(segment_->arena_bytes()) {}

void HostMemory::map_rank(int rank, int local) {
    const auto number = static_cast<std::size_t>(rank);
    blocks_[number] = &segment_->block(local);
    arenas_[number] = segment_->arena(local);
    locals_[number] = local;
    ranks_[static_cast<std::size_t>(local)] = rank;
}

Failure HostMemory::refusal(std::string_view operation, int rank, const void* own, std::size_t bytes) const {
    if (!has_rank(rank))
        return {KUMIKI_ERROR_ARGUMENT,
                fmt::format("{}: there is no rank {}; the job has ranks 0 to {}", operation, rank, size_ - 1)};
    if (own == nullptr) return {KUMIKI_ERROR_ARGUMENT, fmt::format("{}: the address is null", operation)};
    if (in_region(own, bytes))
        return {KUMIKI_ERROR_ARGUMENT, fmt::format("{}: the word at {} is not aligned to 8 bytes", operation, own)};
    return {KUMIKI_ERROR_REGION,
            fmt::format("{}: {} bytes at {} (for rank {}) are not inside a region of this rank: {}", operation, bytes,
                        own, rank, regions_.explain(offset(own), bytes))};
}

Result<> HostMemory::prepare(const Extent& extent, std::uint64_t needed) const {
    // Without this check, missing memory would show as a fatal signal in the middle of a store.
    const auto each = std::min<std::uint64_t>(extent.size(), needed);
    const auto wanted = each * static_cast<std::size_t>(host_size_);
    if (const auto available = platform::available_memory(); wanted > available)
        return fail(
            KUMIKI_ERROR_MEMORY,
            fmt::format("a region of {} bytes, of which each of {} ranks keeps {}, needs {} bytes of memory, and this "
                        "host has {} left; make it smaller or use fewer ranks",
                        extent.size(), host_size_, each, wanted, available));
    std::byte* memory = address(extent);
    if (extent.size() >= platform::huge_page) platform::advise_huge_pages(memory, extent.size());
    return pin_ ? platform::pin(memory, extent.size()) : Result<>{};
}

void HostMemory::discard(const Extent& extent) const {
    if (pin_) platform::unpin(address(extent), extent.size());
    platform::discard(address(extent), platform::round_up(extent.size(), platform::page_size()));
}

} // namespace kumiki::fabric
