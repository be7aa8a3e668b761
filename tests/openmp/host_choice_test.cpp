// Whether parallel regions run on all ranks or on the first alone.
#include "openmp/ranks/host_choice.hpp"

#include <gtest/gtest.h>

namespace kumiki::openmp {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Where = HostChoice::Where;

/// A program on two ranks of one thread each, whose regions take as long as the test says.
class Program {
public:
    explicit Program(RegionRanks wish = RegionRanks::adaptive) : choice_(wish, 0.5) {}

    /// Regions of one code. On all ranks they take `on_all`, of which the first one waits for a part; on the first rank
    /// alone, `on_first`.
    struct Regions {
        std::uintptr_t code;
        microseconds on_all;
        double waits;
        microseconds on_first;
    };
    void run(const Regions& regions, milliseconds time) {
        for (HostChoice::Duration passed{}; passed < time;) passed += run(regions);
    }
    HostChoice::Duration run(const Regions& regions) {
        const bool all = choice_.where() == Where::all;
        const HostChoice::Duration took = all ? regions.on_all : regions.on_first;
        const HostChoice::Duration waits(
            all ? static_cast<std::int64_t>(regions.waits * static_cast<double>(took.count())) : 0);
        on_first_ += all ? 0 : 1;
        if (const auto gain = choice_.ended(regions.code, {.region = took, .region_waits = waits})) gain_ = *gain;
        return took;
    }

    HostChoice& choice() { return choice_; }
    Where where() const { return choice_.where(); }
    int on_first() const { return on_first_; }
    double gain() const { return gain_; }

private:
    HostChoice choice_;
    int on_first_ = 0;
    double gain_ = 0;
};

constexpr Program::Regions short_ones{1, microseconds(200), 0.95, microseconds(20)};
constexpr Program::Regions long_ones{2, microseconds(5000), 0.2, microseconds(8000)};
/// The first rank waits most of the time, but not because of messages: the other one has more to do.
constexpr Program::Regions uneven_ones{3, microseconds(1000), 0.8, microseconds(1200)};

TEST(HostChoiceTest, ShortRegionsSettleAtTheFirstRank) {
    Program program;
    program.run(short_ones, milliseconds(100));
    EXPECT_EQ(program.where(), Where::all) << "it takes a while";
    program.run(short_ones, milliseconds(200));
    EXPECT_EQ(program.where(), Where::first);
    EXPECT_NEAR(program.gain(), 10, 0.1);
    program.run(short_ones, milliseconds(60000));
    EXPECT_EQ(program.where(), Where::first);
}

TEST(HostChoiceTest, RegionsThatGainFromAllRanksAreNeverTried) {
    Program program;
    program.run(long_ones, milliseconds(60000));
    EXPECT_EQ(program.on_first(), 0);
}

TEST(HostChoiceTest, TrialsThatFailBecomeRare) {
    Program program;
    program.run(uneven_ones, milliseconds(1000));
    const int early = program.on_first();
    EXPECT_GT(early, 0);
    EXPECT_EQ(program.where(), Where::all);
    program.run(uneven_ones, milliseconds(60000));
    EXPECT_EQ(program.where(), Where::all);
    EXPECT_LT(program.on_first(), 10 * early);
    EXPECT_EQ(program.gain(), 0);
}

TEST(HostChoiceTest, LongRegionsAreComparedOneByOne) {
    Program program;
    constexpr Program::Regions slow{4, microseconds(900'000), 0.99, microseconds(30'000)};
    for (int region = 0; region < 20; ++region) program.run(slow);
    EXPECT_EQ(program.where(), Where::first);
}

TEST(HostChoiceTest, OtherRegionsBringAllRanksBack) {
    Program program;
    program.run(short_ones, milliseconds(1000));
    ASSERT_EQ(program.where(), Where::first);
    program.run(long_ones, milliseconds(2000));
    EXPECT_EQ(program.where(), Where::all);
}

TEST(HostChoiceTest, SoDoTheSameRegionsIfTheyBecomeLonger) {
    Program program;
    program.run(short_ones, milliseconds(1000));
    ASSERT_EQ(program.where(), Where::first);
    program.run({short_ones.code, microseconds(5000), 0.2, microseconds(8000)}, milliseconds(2000));
    EXPECT_EQ(program.where(), Where::all);
}

TEST(HostChoiceTest, WhatMainDoesBetweenRegionsCountsTheSameEverywhere) {
    HostChoice choice(RegionRanks::adaptive, 0.5);
    for (int region = 0; region < 5000; ++region)
        choice.ended(1, {.serial = milliseconds(2), .region = microseconds(100), .region_waits = microseconds(90)});
    EXPECT_EQ(choice.where(), Where::all);
}

TEST(HostChoiceTest, ThreadsThatAreTiedToTheirProcessesStay) {
    Program program;
    program.choice().stop();
    program.run(short_ones, milliseconds(1000));
    EXPECT_EQ(program.on_first(), 0);
    Program other;
    other.run(short_ones, milliseconds(300));
    ASSERT_EQ(other.where(), Where::first);
    other.choice().stop();
    other.run(long_ones, milliseconds(5000));
    EXPECT_EQ(other.where(), Where::first);
}

TEST(HostChoiceTest, TheUserMayWishTheFirstRankOrBothInTurn) {
    Program first(RegionRanks::first);
    EXPECT_EQ(first.where(), Where::first);
    first.run(long_ones, milliseconds(5000));
    EXPECT_EQ(first.where(), Where::first);
    Program alternating(RegionRanks::alternating);
    for (int region = 0; region < 10; ++region) alternating.run(long_ones);
    EXPECT_EQ(alternating.on_first(), 5);
}

} // namespace
} // namespace kumiki::openmp
