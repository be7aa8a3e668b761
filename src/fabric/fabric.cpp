#include "fabric/fabric.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace kumiki::fabric {

Result<std::unique_ptr<Fabric>> Fabric::join(const Settings& settings) {
    if (settings.segment < 0 && settings.size > 1)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("KUMIKI_SIZE={} without a launcher; start the program by kumiki-run -n {}",
                                settings.size, settings.size));
    auto segment = settings.segment >= 0 ? shm::Segment::adopt(settings.segment, settings.local_size)
                                         : shm::Segment::create(1, settings.arena_bytes);
    if (!segment) return tl::unexpected(segment.error());
    return join(settings, std::make_shared<const shm::Segment>(std::move(*segment)), wireup_of(settings));
}

Result<std::unique_ptr<Fabric>> Fabric::join(const Settings& settings, std::shared_ptr<const shm::Segment> segment,
                                             const Wireup& wireup) {
    shm::RankBlock& own = segment->block(settings.local_rank);
    auto absent = shm::RankState::absent;
    if (!own.state.compare_exchange_strong(absent, shm::RankState::joined))
        return fail(KUMIKI_ERROR_STATE,
                    fmt::format("rank {} has already {} the job; a process joins once, and a rank is one process",
                                settings.rank, absent == shm::RankState::left ? "left" : "joined"));
    own.process.store(getpid(), std::memory_order_relaxed);
    const std::uint64_t identity = segment->header().identity;
    // Not before: a second join that is refused must not begin the file of the first one anew.
    auto trace = trace::Trace::open(settings.trace, settings.rank, settings.host);
    if (!trace) return tl::unexpected(trace.error());
    std::unique_ptr<Fabric> fabric(new Fabric(settings, std::move(segment)));
    fabric->trace_ = std::move(*trace);
    if (settings.local_size < settings.size) {
        auto network = Network::join(*fabric, settings, wireup, identity);
        if (!network) return tl::unexpected(network.error());
        fabric->network_ = std::move(*network);
    }
    fabric->map_ranks();
    fabric->make_first_group();
    if (fabric->network_)
        if (auto served = fabric->network_->serve(); !served) return tl::unexpected(served.error());
    return fabric;
}

Fabric::Fabric(const Settings& settings, std::shared_ptr<const shm::Segment> segment)
    : segment_(std::move(segment)),
      rank_(settings.rank),
      size_(settings.size),
      host_rank_(settings.local_rank),
      host_size_(settings.local_size),
      arena_(segment_->arena(host_rank_)),
      own_(&segment_->block(host_rank_)),
      blocks_(static_cast<std::size_t>(size_)),
      arenas_(static_cast<std::size_t>(size_)),
      nontemporal_bytes_(settings.nontemporal_bytes),
      pin_(settings.pin),
      patience_(wait::patience(settings)),
      regions_(segment_->arena_bytes()),
      messenger_(std::make_unique<Messenger>(*this)),
      group_blocks_(*own_) {}

// The agents use each other: the network's fills the inbox until the end, and handlers send over the network.
Fabric::~Fabric() { messenger_->stop(); }

void Fabric::map_ranks() {
    for (int local = 0; local < host_size_; ++local) {
        const auto rank = static_cast<std::size_t>(rank_on_host(local));
        blocks_[rank] = &segment_->block(local);
        arenas_[rank] = segment_->arena(local);
    }
}

void Fabric::make_first_group() {
    std::vector<Group::Member> members;
    for (int rank = 0; rank < size_; ++rank) members.push_back({rank, 0});
    everybody_ = std::make_unique<Group>(*this, Group::job_id, members);
}

Failure Fabric::refusal(std::string_view operation, int rank, const void* own, std::size_t bytes) const {
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

Result<> Fabric::prepare(const Extent& extent) const {
    // Without this look, memory that is not there would be found by a signal in the middle of a store.
    const auto wanted = extent.size() * static_cast<std::size_t>(host_size_);
    if (const auto available = platform::available_memory(); wanted > available)
        return fail(
            KUMIKI_ERROR_MEMORY,
            fmt::format("a region of {} bytes at each of {} ranks needs {} bytes of memory, and this host has {} "
                        "left; make it smaller or use fewer ranks",
                        extent.size(), host_size_, wanted, available));
    std::byte* memory = address(extent);
    if (extent.size() >= platform::huge_page) platform::advise_huge_pages(memory, extent.size());
    return pin_ ? platform::pin(memory, extent.size()) : Result<>{};
}

void Fabric::discard(const Extent& extent) const {
    if (pin_) platform::unpin(address(extent), extent.size());
    platform::discard(address(extent), platform::round_up(extent.size(), platform::page));
}

} // namespace kumiki::fabric
