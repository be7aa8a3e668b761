#include "fabric/fabric.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "platform/process.hpp"

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
    own.process_namespace.store(platform::process_namespace(), std::memory_order_relaxed);
    own.probe.store(reinterpret_cast<std::uintptr_t>(&own), std::memory_order_relaxed);
    const std::uint64_t identity = segment->header().identity;
    // Opened only now, because a second join that is refused must not truncate the trace file of the first.
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
    if (fabric->network_) {
        fabric->progress_.attach(*fabric->network_);
        if (auto served = fabric->network_->serve(); !served) return tl::unexpected(served.error());
    }
    return fabric;
}

Fabric::Fabric(const Settings& settings, std::shared_ptr<const shm::Segment> segment)
    : memory_(settings, std::move(segment)),
      messenger_(*this),
      progress_(memory_, messenger_, wait::patience(settings)),
      group_blocks_(memory_.own()) {}

// The two agents use each other: the network's agent fills the inbox until the end, and handlers send over the network.
// So the messenger's agent stops while the network still exists.
Fabric::~Fabric() { messenger_.stop(); }

void Fabric::map_ranks() {
    for (int local = 0; local < memory_.host_size(); ++local)
        memory_.map_rank(network_ ? network_->hosts().rank_at(network_->hosts().own(), local) : local, local);
}

void Fabric::make_first_group() {
    std::vector<Group::Member> members;
    for (int rank = 0; rank < size(); ++rank) members.push_back({rank, 0});
    everybody_ = std::make_unique<Group>(*this, Group::job_id, members);
}

} // namespace kumiki::fabric
