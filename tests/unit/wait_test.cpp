#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>
#include <time.h>

#include "support/build.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"
#include "wait/wait.hpp"
#include "wait/wait_at_most.hpp"

namespace kumiki::wait {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using tests::Random;
using tests::Watchdog;

Patience patience_of(WaitPolicy policy, bool crowded) {
    Settings settings;
    settings.wait = policy;
    settings.spin_us = 100;
    settings.yield_us = 200;
    settings.crowded = crowded;
    return patience(settings);
}

/// Two threads that wake each other in turn; `delay` says how long each computes before it does.
class PingPong {
public:
    PingPong(const Patience& patience, std::size_t rounds) : patience_(patience), last_(rounds) {}

    template <class Delay>
    void run(Delay delay) {
        std::thread other([&] { play(1, delay); });
        play(0, delay);
        other.join();
        EXPECT_EQ(turn_.load(), 2 * last_);
        EXPECT_EQ(bells_[0].sleepers.load(), 0u);
        EXPECT_EQ(bells_[1].sleepers.load(), 0u);
    }

private:
    template <class Delay>
    void play(std::size_t me, Delay delay) {
        Random random(me + 1);
        for (std::size_t round = 0;; ++round) {
            const std::size_t mine = 2 * round + me;
            wait(bells_[me], patience_, [&] { return turn_.load(std::memory_order_acquire) == mine; });
            ASSERT_EQ(data_, mine) << "what was written before the ring is seen after the wait";
            if (const nanoseconds pause = delay(random); pause > 0ns) tests::compute_for(pause);
            data_ = mine + 1;
            if (me == 0 && enough_.reached()) last_ = round + 1;
            const bool over = round + 1 == last_;
            turn_.store(mine + 1, std::memory_order_release);
            ring(bells_[1 - me], patience_);
            if (over) return;
        }
    }

    Patience patience_;
    tests::Enough enough_;
    std::array<Bell, 2> bells_{};
    std::atomic<std::size_t> turn_{0};
    // Plain memory, which is passed on with the turn.
    std::size_t data_ = 0;
    std::size_t last_; ///< the number of rounds
};

struct Phases {
    const char* name;
    nanoseconds spin, yield;
    bool free_rings;
};

class WakeUpStress : public testing::TestWithParam<Phases> {};

// The phases take a few microseconds, and so do the delays: the wake-up occurs in every phase and at their boundaries,
// again and again.
TEST_P(WakeUpStress, NoneIsLostAtTheEdgesOfThePhases) {
    const auto& [name, spin, yield, free_rings] = GetParam();
    if (free_rings && !platform::join_fences()) GTEST_SKIP() << "this system has no membarrier";
    const Watchdog watchdog(std::string("ping-pong ") + name);
    PingPong({.spin = spin, .yield = yield, .crowded = false, .free_rings = free_rings}, tests::rounds(100000))
        .run([](Random& random) { return nanoseconds(random.between(0, 12000) - 6000); }); // half of them none
}
INSTANTIATE_TEST_SUITE_P(Phases, WakeUpStress,
                         testing::Values(Phases{"all", 2us, 4us, false}, Phases{"all_free", 2us, 4us, true},
                                         Phases{"sleep", 0ns, 0ns, false}, Phases{"sleep_free", 0ns, 0ns, true},
                                         Phases{"no_yield", 3us, 3us, false}, Phases{"no_yield_free", 3us, 3us, true},
                                         Phases{"no_spin", 0ns, 3us, false}, Phases{"no_spin_free", 0ns, 3us, true}),
                         [](const auto& phases) { return phases.param.name; });

class PolicyStress : public testing::TestWithParam<std::tuple<WaitPolicy, bool>> {};

// The actual policies, with delays that cover all their phases.
TEST_P(PolicyStress, NoWakeUpIsLost) {
    const auto [policy, crowded] = GetParam();
    const Watchdog watchdog("ping-pong of a policy");
    PingPong(patience_of(policy, crowded), tests::rounds(800)).run([](Random& random) {
        return nanoseconds(random.between(0, 300000));
    });
}
INSTANTIATE_TEST_SUITE_P(Policies, PolicyStress,
                         testing::Combine(testing::Values(WaitPolicy::adaptive, WaitPolicy::spin, WaitPolicy::yield,
                                                          WaitPolicy::sleep),
                                          testing::Bool()));

// Many threads sleep at one bell, and several ring it.
TEST(BellStress, WakesAllWhoWait) {
    const Watchdog watchdog("many sleepers at one bell");
    constexpr int waiters = 4;
    const std::size_t rounds = tests::rounds(4000);
    for (const bool crowded : {false, true}) {
        const Patience patience = asleep(patience_of(WaitPolicy::adaptive, crowded));
        Bell bell{}, back{};
        std::atomic<std::size_t> round{0}, seen{0};
        std::vector<std::thread> threads;
        for (int waiter = 0; waiter < waiters; ++waiter)
            threads.emplace_back([&] {
                for (std::size_t mine = 1; mine <= rounds; ++mine) {
                    wait(bell, patience, [&] { return round.load(std::memory_order_acquire) >= mine; });
                    seen.fetch_add(1, std::memory_order_release);
                    ring(back, patience);
                }
            });
        for (std::size_t mine = 1; mine <= rounds; ++mine) {
            round.store(mine, std::memory_order_release);
            ring(bell, patience);
            wait(back, patience, [&] { return seen.load(std::memory_order_acquire) == waiters * mine; });
        }
        for (auto& thread : threads) thread.join();
    }
}

TEST(PatienceTest, FollowsThePolicy) {
    const Patience spin = patience_of(WaitPolicy::spin, false), yield = patience_of(WaitPolicy::yield, false);
    EXPECT_EQ(spin.spin, nanoseconds::max());
    EXPECT_EQ(yield.spin, 0ns);
    EXPECT_EQ(yield.yield, nanoseconds::max());
    EXPECT_EQ(patience_of(WaitPolicy::sleep, false).yield, 0ns);
    const Patience adaptive = patience_of(WaitPolicy::adaptive, false),
                   crowded = patience_of(WaitPolicy::adaptive, true);
    EXPECT_EQ(adaptive.spin, 100us);
    EXPECT_EQ(adaptive.yield, 100us) << "who has a core yields it to nobody";
    EXPECT_EQ(crowded.spin, 0ns) << "who spins would keep another from what he waits for";
    EXPECT_EQ(crowded.yield, 200us);
    const Patience team = wait::crowded(adaptive);
    EXPECT_EQ(team.spin, 0ns);
    EXPECT_EQ(team.yield, 100us) << "it yields as long as it would have spun";
    EXPECT_FALSE(crowded.free_rings);
    EXPECT_EQ(asleep(spin).yield, 0ns);
}

TEST(WaitTest, WhatIsTrueIsNotWaitedFor) {
    Bell bell{};
    int looks = 0;
    wait(bell, patience_of(WaitPolicy::sleep, false), [&] { return ++looks > 0; });
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(bell.rings.load(), 0u);
}

// The fence on all threads can miss a ringer, which then sees no sleeper and wakes none. In this test no thread rings:
// the second look finds a condition that becomes true before it. On a busy machine the condition may become true too
// late, hence the trials.
TEST(WaitTest, ARingThatTheFenceMissedIsMadeGoodByASecondLook) {
    if (!platform::join_fences()) GTEST_SKIP() << "this system has no membarrier";
    const Watchdog watchdog("a wait whose bell is not rung");
    const Patience patience{.spin = 0ns, .yield = 0ns, .crowded = false, .free_rings = true};
    int found = 0;
    for (int trial = 0; trial < 50 && found == 0; ++trial) {
        Bell bell{};
        std::atomic<bool> event{false}, over{false};
        std::atomic<int> looks{0};
        std::thread waiter([&] {
            wait(bell, patience, [&] {
                const bool seen = event.load(std::memory_order_acquire);
                ++looks;
                return seen;
            });
            over.store(true, std::memory_order_release);
        });
        while (looks < 2) platform::yield(); // one look while awake, one before it sleeps
        event.store(true, std::memory_order_release);
        for (int look = 0; look < 100 && !over.load(std::memory_order_acquire); ++look)
            std::this_thread::sleep_for(1ms);
        found += over.load(std::memory_order_acquire) ? 1 : 0;
        ring(bell, patience);
        waiter.join();
    }
    EXPECT_GT(found, 0);
}

TEST(WaitTest, AWaitWithALimitEndsAtTheLimit) {
    Bell bell{};
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(wait_at_most(bell, 20ms, [] { return false; }));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
    EXPECT_EQ(bell.sleepers.load(), 0u);
    EXPECT_TRUE(wait_at_most(bell, 0ns, [] { return true; })) << "it asks at least once";
}

TEST(WaitTest, AWaitWithALimitEndsWithTheRing) {
    const Watchdog watchdog("a wait with a limit");
    Bell bell{};
    std::atomic<bool> changed{false};
    std::thread other([&] {
        while (bell.sleepers.load() == 0) std::this_thread::yield();
        std::this_thread::sleep_for(20ms); // by now the waiting thread sleeps
        changed.store(true, std::memory_order_release);
        ring(bell, patience_of(WaitPolicy::adaptive, false));
    });
    EXPECT_TRUE(wait_at_most(bell, 1h, [&] { return changed.load(std::memory_order_acquire); }));
    EXPECT_EQ(bell.sleepers.load(), 0u);
    other.join();
}

TEST(WaitTest, RingingCostsNoWakeUpWhenNobodySleeps) {
    Bell bell{};
    ring(bell, patience_of(WaitPolicy::adaptive, false));
    EXPECT_EQ(bell.rings.load(), 0u);
}

/// The processor time that `thread` used while this thread slept for `time`, as a share of that time.
double use_of(pthread_t thread, nanoseconds time) {
    clockid_t clock;
    EXPECT_EQ(pthread_getcpuclockid(thread, &clock), 0);
    const auto used = [clock] {
        timespec now;
        clock_gettime(clock, &now);
        return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
    };
    const auto before = used();
    std::this_thread::sleep_for(time);
    return static_cast<double>((used() - before).count()) / static_cast<double>(time.count());
}

class IdleTest : public testing::TestWithParam<WaitPolicy> {};

TEST_P(IdleTest, AWaitingThreadTakesNoProcessorTimeAfterTenMilliseconds) {
    const Patience patience = patience_of(GetParam(), false);
    Bell bell{};
    std::atomic<bool> over{false};
    std::thread waiter([&] { wait(bell, patience, [&] { return over.load(std::memory_order_acquire); }); });
    std::this_thread::sleep_for(10ms);
    EXPECT_LT(use_of(waiter.native_handle(), 300ms), 0.02);
    over.store(true, std::memory_order_release);
    ring(bell, patience);
    waiter.join();
}

TEST_P(IdleTest, NeitherDoesARankThatServesMessagesWhileItWaits) {
    std::atomic<pthread_t> waiter{};
    tests::run_ranks_as_threads({.ranks = 2, .wait = GetParam()}, [&](tests::Rank& rank) {
        ASSERT_TRUE(rank.collectives.add_handler([](int, auto) {}));
        if (rank.rank() == 1) waiter = pthread_self();
        ASSERT_TRUE(rank.collectives.barrier());
        if (rank.rank() == 0) {
            std::this_thread::sleep_for(20ms); // the other one waits in the next barrier
            EXPECT_LT(use_of(waiter.load(), 300ms), 0.02);
        }
        ASSERT_TRUE(rank.collectives.barrier());
    });
}
INSTANTIATE_TEST_SUITE_P(Policies, IdleTest, testing::Values(WaitPolicy::sleep, WaitPolicy::adaptive));

TEST(IdleTest, TheCheckItselfSeesASpinner) {
    const Patience patience = patience_of(WaitPolicy::spin, false);
    Bell bell{};
    std::atomic<bool> over{false};
    std::thread waiter([&] { wait(bell, patience, [&] { return over.load(std::memory_order_acquire); }); });
    EXPECT_GT(use_of(waiter.native_handle(), 100ms), 0.05);
    over.store(true, std::memory_order_release);
    waiter.join();
}

} // namespace
} // namespace kumiki::wait
