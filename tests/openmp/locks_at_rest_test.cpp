// Locks of one rank while the others rest.
#include "openmp/ranks/locks/locks_at_rest.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

namespace kumiki::openmp {
namespace {

constexpr int lock = 3;

struct Calls {
    int acquired = 0, released = 0;
    void end(LocksAtRest& locks) {
        locks.end([this](int) { ++acquired; }, [this](int) { ++released; });
    }
};

TEST(LocksAtRestTest, ALockIsTakenOnlyWhileOthersRest) {
    LocksAtRest locks(8);
    EXPECT_FALSE(locks.take(lock));
    EXPECT_FALSE(locks.leave(lock));
    locks.begin();
    EXPECT_TRUE(locks.others_rest());
    EXPECT_TRUE(locks.take(lock));
    EXPECT_TRUE(locks.leave(lock));
    EXPECT_FALSE(locks.leave(lock)) << "it was acquired, not taken";
    Calls calls;
    calls.end(locks);
    EXPECT_FALSE(locks.others_rest());
    EXPECT_EQ(calls.acquired, 0);
}

TEST(LocksAtRestTest, WhatAThreadStillHasIsAcquired) {
    LocksAtRest locks(8);
    locks.begin();
    ASSERT_TRUE(locks.take(lock));
    Calls calls;
    calls.end(locks);
    EXPECT_EQ(calls.acquired, 1);
    EXPECT_EQ(calls.released, 0);
    EXPECT_FALSE(locks.leave(lock)) << "the thread has to release it now";
}

/// Threads that enter the lock of the rank first, and then take or acquire it, while rests begin and end: whoever has
/// acquired the lock alone has it, and it is released as often as it was acquired.
TEST(LocksAtRestTest, ALockIsAcquiredAndReleasedInTurn) {
    constexpr int threads = 3;
    LocksAtRest locks(8);
    std::mutex here_first;
    std::atomic<int> holders{0}, both{0};
    const auto acquire = [&](int) { both += holders.fetch_add(1) == 0 ? 0 : 1; };
    const auto release = [&](int) { both += holders.fetch_sub(1) == 1 ? 0 : 1; };
    std::atomic<bool> ends{false};
    std::uint64_t entered = 0;
    std::vector<std::thread> others;
    for (int thread = 0; thread < threads; ++thread)
        others.emplace_back([&] {
            while (!ends) {
                const std::lock_guard holding(here_first);
                if (!locks.take(lock)) acquire(lock);
                ++entered;
                if (!locks.leave(lock)) release(lock);
            }
        });
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < end) {
        locks.begin();
        std::this_thread::yield();
        locks.end(acquire, release);
        std::this_thread::yield();
    }
    ends = true;
    for (std::thread& other : others) other.join();
    EXPECT_GT(entered, 0U);
    EXPECT_EQ(holders, 0);
    EXPECT_EQ(both, 0);
}

} // namespace
} // namespace kumiki::openmp
