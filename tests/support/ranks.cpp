#include "support/ranks.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "support/processes.hpp"

namespace kumiki::tests {
namespace {

std::unique_ptr<fabric::Fabric> join(const JobOptions& options, int rank,
                                     std::shared_ptr<const fabric::shm::Segment> segment) {
    return fabric::Fabric::join(settings_of(options, rank), std::move(segment), {}).value();
}

void with_rank(std::unique_ptr<fabric::Fabric> fabric, const std::function<void(Rank&)>& body) {
    collective::Collectives collectives(fabric->everybody());
    Rank mine{*fabric, collectives};
    body(mine);
}

void run_rank(std::unique_ptr<fabric::Fabric> fabric, const std::function<void(Rank&)>& body) {
    with_rank(std::move(fabric), [&](Rank& mine) {
        body(mine);
        EXPECT_TRUE(mine.collectives.barrier().has_value());
        mine.fabric.leave();
    });
}

} // namespace

Settings settings_of(const JobOptions& options, int rank) {
    const char* const nothing[] = {nullptr};
    Settings settings = read_settings(nothing).value();
    settings.rank = rank;
    settings.size = options.ranks;
    settings.local_rank = rank;
    settings.local_size = options.ranks;
    settings.wait = options.wait;
    settings.crowded = options.crowded;
    settings.nontemporal_bytes = options.nontemporal_bytes;
    settings.pin = options.pin;
    settings.threads = {options.threads};
    settings.timeout_s = options.timeout_s;
    settings.trace = options.trace;
    return settings;
}

std::shared_ptr<const fabric::shm::Segment> make_segment(const JobOptions& options) {
    return std::make_shared<const fabric::shm::Segment>(
        fabric::shm::Segment::create(options.ranks, options.arena_bytes).value());
}

namespace {

/// With TEST_HOSTS the same tests run over the network (tests/unit/CMakeLists.txt).
int hosts_of(const JobOptions& options) {
    const char* wanted = std::getenv("TEST_HOSTS");
    return std::min(options.ranks, wanted == nullptr ? options.hosts : std::atoi(wanted));
}

} // namespace

Machines::Machines(const JobOptions& options) : options_(options), cards_(static_cast<std::size_t>(options.ranks)) {
    options_.hosts = hosts_of(options);
    for (int host = 0, rank = 0; host < options_.hosts; ++host, rank += place(rank).locals)
        segments_.push_back(std::make_shared<const fabric::shm::Segment>(
            fabric::shm::Segment::create(place(rank).locals, options.arena_bytes).value()));
}

Machines::Place Machines::place(int rank) const {
    const int each = options_.ranks / options_.hosts, more = options_.ranks % options_.hosts;
    const int in_larger = more * (each + 1);
    if (rank < in_larger) return {rank / (each + 1), rank % (each + 1), each + 1};
    return {more + (rank - in_larger) / each, (rank - in_larger) % each, each};
}

std::unique_ptr<fabric::Fabric> Machines::join(int rank) {
    const Place here = place(rank);
    Settings settings = settings_of(options_, rank);
    settings.local_rank = here.local;
    settings.local_size = here.locals;
    settings.interface = "lo";
    return fabric::Fabric::join(settings, segments_[static_cast<std::size_t>(here.host)], wireup(rank)).value();
}

fabric::Wireup Machines::wireup(int rank) {
    return [this, rank](const std::vector<std::byte>& own) -> Result<std::vector<std::vector<std::byte>>> {
        std::unique_lock lock(mutex_);
        cards_[static_cast<std::size_t>(rank)] = own;
        if (++came_ == options_.ranks) all_have_come_.notify_all();
        all_have_come_.wait(lock, [this] { return came_ == options_.ranks; });
        return cards_;
    };
}

void run_ranks_as_threads(const JobOptions& options, const std::function<void(Rank&)>& body) {
    Machines machines(options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.emplace_back([&, rank] { run_rank(machines.join(rank), body); });
    for (auto& rank : ranks) rank.join();
}

void run_ranks_to_failure(const JobOptions& options, const std::function<void(Rank&)>& body) {
    Machines machines(options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.emplace_back([&, rank] { with_rank(machines.join(rank), body); });
    for (auto& rank : ranks) rank.join();
}

void run_ranks_as_processes(const JobOptions& options, const std::function<void(Rank&)>& body) {
    const auto segment = make_segment(options);
    Processes ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.start([&, rank] { run_rank(join(options, rank, segment), body); });
    expect_good_ends(ranks);
}

void expect_no_rank_hangs(const JobOptions& options, const std::function<void(Rank&)>& body) {
    const auto segment = make_segment(options);
    Processes ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.start([&, rank] { with_rank(join(options, rank, segment), body); });
    expect_good_ends(ranks, std::chrono::seconds(10));
}

} // namespace kumiki::tests
