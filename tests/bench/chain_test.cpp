#include "bench/routines/chain.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace kumiki::bench {
namespace {

/// A run of three ranks from the point of view of the first one: the others take as long as the test says.
class ThreeRanks {
public:
    double others[2] = {1.0, 2.0};

    static int rank() { return 0; }
    static int size() { return 3; }
    static bool oversubscribed() { return false; }
    static int hosts() { return 1; }
    static void barrier() {}
    static std::uint64_t broadcast(std::uint64_t word) { return word; }
    static double largest(double figure) { return figure; }
    void largest(std::span<double> figures) const { std::copy_n(std::begin(others), 2, figures.begin() + 1); }
};
static_assert(World<ThreeRanks>);

constexpr std::size_t bytes = 8000;
constexpr std::uint64_t calls = 4;
constexpr double gigabytes = bytes * calls * 1e-9;

void wait_a_little(Messages&) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

TEST(Chain, measures_all_ranks_by_the_slowest_and_each_by_its_own_time) {
    ThreeRanks world;
    Messages messages(world.rank(), bytes);
    Chain<ThreeRanks> chain(world, {"send", wait_a_little}, messages, calls);
    world.others[1] = 1000; // the warm-up, which must not count
    chain.take();
    world.others[1] = 2;
    Row all = chain.of_all("kumiki");
    for (int sample = 0; sample < 3; ++sample) all.samples.push_back(chain.take().figure);

    EXPECT_DOUBLE_EQ(all.samples[0], 2 * gigabytes / 2.0) << "two ranks send, and the slowest takes two seconds";
    EXPECT_EQ(chain.of_rank(all, 1).samples, std::vector<double>(3, gigabytes / 1.0));
    EXPECT_EQ(chain.of_rank(all, 2).samples, std::vector<double>(3, gigabytes / 2.0));
    const Row first = chain.of_rank(all, 0);
    ASSERT_EQ(first.samples.size(), 3u);
    for (const double sample : first.samples) {
        EXPECT_LE(sample, gigabytes / (static_cast<double>(calls) * 1e-3));
        EXPECT_GT(sample, gigabytes / 1.0) << "its own time, not another rank's";
    }
    EXPECT_EQ(std::get<std::string>(first.parameters.at("scope")), "one");
    EXPECT_EQ(std::get<std::int64_t>(chain.of_rank(all, 2).parameters.at("rank")), 2);
}

TEST(Chain, of_the_bound_is_a_copy_by_those_who_receive) {
    Messages messages(1, bytes);
    messages.renew();
    EXPECT_FALSE(messages.right());
    const Routine first = copy_alone(0), second = copy_alone(1);
    first.call(messages);
    EXPECT_NE(messages.received().back(), messages.sent().back()) << "nothing comes to the first of a chain";
    second.call(messages);
    EXPECT_EQ(messages.received().back(), messages.sent().back());

    ThreeRanks world;
    Chain<ThreeRanks> chain(world, second, messages, calls);
    EXPECT_TRUE(chain.take().right) << "no message arrives";
    EXPECT_EQ(chain.of_all("kumiki").implementation, "bound");
    EXPECT_EQ(chain.first_rank(), 1u);
}

TEST(RoutineOptions, time_the_papers_hundred_calls_however_little_time_there_is) {
    RoutineOptions options;
    options.budget.seconds = 0;
    options.budget.samples = 3;
    EXPECT_EQ(options.rounds().fewest * options.calls, 100u);
    options.calls = 7;
    EXPECT_EQ(options.rounds().fewest, 15u) << "whole samples";
    options.timed_calls = 1;
    EXPECT_EQ(options.rounds().fewest, options.budget.fewest);
}

} // namespace
} // namespace kumiki::bench
