#include <gtest/gtest.h>
#include <thread>

#include "support/build.hpp"
#include "support/filter.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/watchdog.hpp"
#include "wait/thread_barrier.hpp"

namespace kumiki::wait {
namespace {

using namespace std::chrono_literals;
using tests::Random;
using tests::Watchdog;

Patience patience_of(WaitPolicy policy, bool crowded) {
    Settings settings;
    settings.wait = policy;
    settings.spin_us = 20;
    settings.yield_us = 40;
    settings.crowded = crowded;
    return patience(settings);
}

/// Runs body(thread) on `threads` threads.
template <class Body>
void on_threads(int threads, Body body) {
    std::vector<std::thread> running;
    for (int thread = 1; thread < threads; ++thread) running.emplace_back([&, thread] { body(thread); });
    body(0);
    for (auto& thread : running) thread.join();
}

struct Shape {
    int threads;
    WaitPolicy policy;
    bool crowded;
    std::size_t barriers;
};

std::string name(const testing::TestParamInfo<Shape>& info) {
    const char* const policies[] = {"adaptive", "spin", "yield", "sleep"};
    return std::to_string(info.param.threads) + "_" + policies[static_cast<int>(info.param.policy)] +
           (info.param.crowded ? "_crowded" : "");
}

class ThreadBarrierStress : public testing::TestWithParam<Shape> {};

TEST_P(ThreadBarrierStress, NobodyIsEverAPhaseAheadOrBehind) {
    const auto [threads, policy, crowded, barriers] = GetParam();
    const Watchdog watchdog("thread barrier");
    ThreadBarrier barrier(threads, patience_of(policy, crowded));
    std::vector<Flag> phase(static_cast<std::size_t>(threads));
    const tests::Enough enough;
    std::atomic<std::uint64_t> last{tests::rounds(barriers)};
    on_threads(threads, [&](int thread) {
        Random random(static_cast<std::uint64_t>(thread));
        auto& mine = phase[static_cast<std::size_t>(thread)].value;
        for (std::uint64_t now = 1; now <= last.load(std::memory_order_relaxed); ++now) {
            // Written before this barrier, so visible to all threads after it.
            if (thread == 0 && now % 64 == 0 && enough.reached()) last.store(now, std::memory_order_relaxed);
            // Random delays that reach beyond the end of all phases of the wait, and long runs without delays.
            if (random.once_in(256)) tests::compute_for(std::chrono::nanoseconds(random.between(0, 90000)));
            mine.store(now, std::memory_order_relaxed);
            ASSERT_TRUE(barrier.arrive_and_wait(thread));
            for (const Flag& other : phase) {
                const std::uint64_t seen = other.value.load(std::memory_order_relaxed);
                ASSERT_TRUE(seen == now || seen == now + 1)
                    << "thread " << thread << " left barrier " << now << " and saw one in phase " << seen;
            }
        }
    });
}
INSTANTIATE_TEST_SUITE_P(
    Shapes, ThreadBarrierStress,
    testing::Values(Shape{2, WaitPolicy::adaptive, false, 1000000}, Shape{2, WaitPolicy::spin, false, 100000},
                    Shape{2, WaitPolicy::sleep, false, 20000}, Shape{2, WaitPolicy::adaptive, true, 100000},
                    Shape{3, WaitPolicy::adaptive, false, 10000}, Shape{3, WaitPolicy::adaptive, true, 30000},
                    Shape{4, WaitPolicy::adaptive, false, 5000}, Shape{4, WaitPolicy::yield, false, 10000},
                    Shape{4, WaitPolicy::sleep, true, 10000}, Shape{8, WaitPolicy::adaptive, false, 2000},
                    Shape{8, WaitPolicy::adaptive, true, 10000}, Shape{8, WaitPolicy::sleep, false, 2000}),
    name);

class ThreadBarrierTest : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, ThreadBarrierTest,
                         testing::Values(Shape{2, WaitPolicy::adaptive, false, 0},
                                         Shape{3, WaitPolicy::sleep, false, 0}, Shape{4, WaitPolicy::adaptive, true, 0},
                                         Shape{5, WaitPolicy::sleep, true, 0}),
                         name);

TEST_P(ThreadBarrierTest, HandsOnWhatWasWritten) {
    const auto [threads, policy, crowded, unused] = GetParam();
    const Watchdog watchdog("thread barrier");
    ThreadBarrier barrier(threads, patience_of(policy, crowded));
    std::vector<int> values(static_cast<std::size_t>(threads)); // plain memory: ThreadSanitizer detects races
    on_threads(threads, [&](int thread) {
        for (int phase = 1; phase <= 300; ++phase) {
            values[static_cast<std::size_t>(thread)] = phase;
            ASSERT_TRUE(barrier.arrive_and_wait(thread));
            for (const int value : values) ASSERT_EQ(value, phase);
            ASSERT_TRUE(barrier.arrive_and_wait(thread));
        }
    });
}

TEST_P(ThreadBarrierTest, BreakingItFreesThoseWhoWaitAndThoseWhoComeLater) {
    const auto [threads, policy, crowded, unused] = GetParam();
    const Watchdog watchdog("broken thread barrier");
    ThreadBarrier barrier(threads, patience_of(policy, crowded));
    Random random(7);
    for (int round = 0; round < 100; ++round) {
        const auto pause = std::chrono::microseconds(round % 4 == 0 ? 0 : random.between(0, 120));
        std::vector<std::size_t> passed(static_cast<std::size_t>(threads));
        on_threads(threads, [&, count = threads](int thread) {
            // The last thread reaches only three barriers, and breaks the barrier instead of reaching the fourth.
            for (int now = 0; now < 6; ++now) {
                if (thread == count - 1 && now == 3) {
                    tests::compute_for(pause);
                    barrier.break_up(thread);
                    return;
                }
                if (barrier.arrive_and_wait(thread)) ++passed[static_cast<std::size_t>(thread)];
            }
        });
        for (const std::size_t barriers : passed)
            EXPECT_EQ(barriers, 3u) << "those to which all came hold, the others do not";
        barrier.mend();
        on_threads(threads, [&](int thread) {
            for (int now = 0; now < 5; ++now) EXPECT_TRUE(barrier.arrive_and_wait(thread)) << "mended";
        });
    }
}

TEST(ThreadBarrierTest, OneThreadWaitsForNobody) {
    ThreadBarrier barrier(1, patience_of(WaitPolicy::sleep, true));
    for (int now = 0; now < 10; ++now) EXPECT_TRUE(barrier.arrive_and_wait(0));
}

/// Passes barriers with `threads` threads in a process in which a futex call is deadly; returns how the process ended.
std::optional<tests::Ending> barriers_without_futex(WaitPolicy policy, int barriers) {
    tests::Processes process;
    process.start([policy, barriers] {
        ThreadBarrier barrier(2, patience_of(policy, false));
        const auto pass = [&](int thread) {
            if (!tests::forbid_futex()) _exit(77);
            for (int now = 0; now < barriers; ++now) barrier.arrive_and_wait(thread);
        };
        // Not joined: joining is a futex call of its own.
        std::thread([&] {
            pass(1);
            for (;;) pause();
        }).detach();
        pass(0);
        _exit(0);
    });
    return process.ended_within(0, 60s);
}

TEST(ThreadBarrierTest, SpinningMakesNoFutexCall) {
    if (tests::sanitized) GTEST_SKIP() << "the sanitizer makes futex calls of its own";
    const auto spinning = barriers_without_futex(WaitPolicy::spin, 100000);
    ASSERT_TRUE(spinning);
    if (spinning->code == 77) GTEST_SKIP() << "this system has no seccomp";
    EXPECT_EQ(spinning->code, 0) << "killed by signal " << spinning->signal.value_or(0);
    const auto sleeping = barriers_without_futex(WaitPolicy::sleep, 100);
    ASSERT_TRUE(sleeping);
    EXPECT_EQ(sleeping->signal, SIGSYS) << "the check itself: sleeping is a futex call";
}

} // namespace
} // namespace kumiki::wait
