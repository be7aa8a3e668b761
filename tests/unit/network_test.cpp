#include <gtest/gtest.h>
#include <numeric>
#include <thread>

#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

// What only several hosts have; that all else works over the network too is tested where it is tested on one host.
namespace kumiki::fabric {
namespace {

using namespace std::chrono_literals;
using tests::Rank;
using tests::run_ranks_as_threads;
using tests::Watchdog;

TEST(NetworkTest, RanksMeet) {
    const Watchdog watchdog("a barrier over hosts");
    for (const auto& [ranks, hosts] : {std::pair{2, 2}, {3, 2}, {4, 2}, {5, 5}, {8, 3}})
        run_ranks_as_threads({.ranks = ranks, .hosts = hosts}, [](Rank& rank) {
            for (int round = 0; round < 20; ++round) ASSERT_TRUE(rank.collectives.barrier());
        });
}

} // namespace
} // namespace kumiki::fabric
