#include "kernels/common/phases.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace kumiki::kernels {
namespace {

using namespace std::chrono_literals;

TEST(Phases, books_time_on_the_phase_that_was_entered_and_none_after_stop) {
    Phases phases;
    const auto start = measure::Clock::now();
    phases.enter(Phase::computation);
    std::this_thread::sleep_for(4ms);
    phases.enter(Phase::communication);
    std::this_thread::sleep_for(2ms);
    phases.enter(Phase::computation);
    std::this_thread::sleep_for(4ms);
    phases.stop();
    const double total = measure::seconds_since(start);
    std::this_thread::sleep_for(4ms);
    phases.stop();

    EXPECT_GE(phases.seconds(Phase::computation), 8e-3);
    EXPECT_GE(phases.seconds(Phase::communication), 2e-3);
    EXPECT_EQ(phases.seconds(Phase::synchronisation), 0);
    EXPECT_LE(phases.seconds(Phase::computation) + phases.seconds(Phase::communication), total);
}

} // namespace
} // namespace kumiki::kernels
