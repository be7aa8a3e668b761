#include "support/ranks.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "support/processes.hpp"

namespace kumiki::tests {
namespace {

void with_rank(const JobOptions& options, int rank, std::shared_ptr<const fabric::shm::Segment> segment,
               const std::function<void(Rank&)>& body) {
    auto fabric = fabric::Fabric::join(settings_of(options, rank), std::move(segment)).value();
    collective::Collectives collectives(*fabric);
    Rank mine{*fabric, collectives};
    body(mine);
}

void run_rank(const JobOptions& options, int rank, std::shared_ptr<const fabric::shm::Segment> segment,
              const std::function<void(Rank&)>& body) {
    with_rank(options, rank, std::move(segment), [&](Rank& mine) {
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
    settings.wait = options.wait;
    settings.crowded = options.crowded;
    settings.nontemporal_bytes = options.nontemporal_bytes;
    settings.pin = options.pin;
    settings.threads = options.threads;
    return settings;
}

std::shared_ptr<const fabric::shm::Segment> make_segment(const JobOptions& options) {
    return std::make_shared<const fabric::shm::Segment>(
        fabric::shm::Segment::create(options.ranks, options.arena_bytes).value());
}

void run_ranks_as_threads(const JobOptions& options, const std::function<void(Rank&)>& body) {
    const auto segment = make_segment(options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.emplace_back([&, rank] { run_rank(options, rank, segment, body); });
    for (auto& rank : ranks) rank.join();
}

void run_ranks_as_processes(const JobOptions& options, const std::function<void(Rank&)>& body) {
    const auto segment = make_segment(options);
    Processes ranks;
    for (int rank = 0; rank < options.ranks; ++rank) ranks.start([&, rank] { run_rank(options, rank, segment, body); });
    expect_good_ends(ranks);
}

void expect_no_rank_hangs(const JobOptions& options, const std::function<void(Rank&)>& body) {
    const auto segment = make_segment(options);
    Processes ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.start([&, rank] { with_rank(options, rank, segment, body); });
    expect_good_ends(ranks, std::chrono::seconds(10));
}

} // namespace kumiki::tests
