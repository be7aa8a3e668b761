#include "platform/waker.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace kumiki::platform {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int no_descriptor = -1;

TEST(WakerTest, ASleepEndsWhenItsTimeIsOver) {
    Waker waker;
    ASSERT_TRUE(waker.open());
    const auto start = Clock::now();
    waker.sleep(no_descriptor, 20ms);
    EXPECT_GE(Clock::now() - start, 20ms);
}

TEST(WakerTest, ASleepEndsWhenAnotherThreadWakesIt) {
    Waker waker;
    ASSERT_TRUE(waker.open());
    const auto start = Clock::now();
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        waker.wake();
    });
    waker.sleep(no_descriptor, 1h);
    EXPECT_LT(Clock::now() - start, 1min);
    other.join();
}

TEST(WakerTest, AWakeUpBeforeTheSleepEndsThatSleepOnly) {
    Waker waker;
    ASSERT_TRUE(waker.open());
    waker.wake();
    waker.wake();
    auto start = Clock::now();
    waker.sleep(no_descriptor, 1h);
    EXPECT_LT(Clock::now() - start, 1min);
    start = Clock::now();
    waker.sleep(no_descriptor, 20ms);
    EXPECT_GE(Clock::now() - start, 20ms);
}

TEST(WakerTest, ASleepEndsWhenTheDescriptorIsReadable) {
    Waker waker;
    ASSERT_TRUE(waker.open());
    const Pipe pipe = Pipe::create();
    ASSERT_EQ(write(pipe.write.get(), "x", 1), 1);
    const auto start = Clock::now();
    waker.sleep(pipe.read.get(), 1h);
    EXPECT_LT(Clock::now() - start, 1min);
}

} // namespace
} // namespace kumiki::platform
