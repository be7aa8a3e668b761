// Threads that wait for variables of other ranks in loops of loads, over two "hosts" of this process.
#include <atomic>
#include <gtest/gtest.h>
#include <memory>

#include "dsm/variable_wait.hpp"
#include "platform/memory.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

constexpr tests::JobOptions two_hosts{.hosts = 2};
constexpr int lock = 3;

class VariableWaitTest : public testing::TestWithParam<FaultMechanism> {};

/// A rank whose threads wait for variables, with a page of data and a page of flags at the home of each rank.
class Waiting {
public:
    Waiting(SharedMemory& memory)
        : words_(platform::page_size() / sizeof(int)),
          data_(tests::allocate_shared<int>(memory, 2 * words_)),
          flags_(tests::allocate_shared<int>(memory, 2 * words_)),
          locks_(**memory.locks("test")) {
        auto started = VariableWait::start(memory, locks_, lock, [this] { flush(); });
        EXPECT_TRUE(started);
        wait_ = std::move(*started);
    }
    volatile int& data(int home) { return data_[static_cast<std::size_t>(home) * words_]; }
    volatile int& beside_flag(int home) { return (&flag(home))[1]; }
    volatile int& flag(int home) { return flags_[static_cast<std::size_t>(home) * words_]; }
    void flush() {
        EXPECT_TRUE(locks_.acquire(lock, Locks::no_lock, wait_->wanted()));
        wait_->renew();
        EXPECT_TRUE(locks_.release(lock));
    }
    void await(volatile int& flag, int value) {
        for (int found = value - 1; found != value;) {
            found = flag;
            wait_->look_again(this, const_cast<int*>(&flag)); // NOLINT: only an address
        }
    }

private:
    std::size_t words_;
    volatile int *data_, *flags_;
    Locks& locks_;
    std::unique_ptr<VariableWait> wait_;
};

// The home of a flag sets it and then computes. A thread that finds the flag there also finds what was written before,
// although the home has not released anything.
TEST_P(VariableWaitTest, AFlagAtItsHomeComesWithTheDataBeforeIt) {
    const Watchdog watchdog("a flag at its home");
    static std::atomic<int> is_set, is_seen;
    is_set = is_seen = 0;
    tests::run_with_copies(GetParam(), two_hosts, [](Rank& rank, SharedMemory& memory) {
        Waiting waiting(memory);
        for (int round = 1; round <= 20; ++round) {
            const int writer = round % 2;
            if (rank.rank() == writer) waiting.beside_flag(writer) = round; // so nobody has an older copy of the flag
            for (const int home : {0, 1}) EXPECT_EQ(waiting.data(home), round - 1); // copies that will be old
            ASSERT_TRUE(memory.barrier());
            if (rank.rank() == writer) {
                for (const int home : {0, 1}) waiting.data(home) = round;
                waiting.flag(writer) = round;
                is_set = round;
                while (is_seen != round) {} // without any use of the library
            } else {
                while (is_set != round) {}
                waiting.await(waiting.flag(writer), round);
                for (const int home : {0, 1}) EXPECT_EQ(waiting.data(home), round) << "home " << home;
                is_seen = round;
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Each rank in turn sets a flag of either home and releases it, and then waits for the other one.
TEST_P(VariableWaitTest, ThreadsThatWaitLearnOfAReleasedFlag) {
    const Watchdog watchdog("released flags");
    tests::run_with_copies(GetParam(), two_hosts, [](Rank& rank, SharedMemory& memory) {
        Waiting waiting(memory);
        ASSERT_TRUE(memory.barrier());
        for (int round = 1; round <= 200; ++round) {
            const int home = round / 2 % 2;
            if (rank.rank() == round % 2) {
                waiting.data(1 - home) = round;
                waiting.flag(home) = round;
                waiting.flush();
            } else {
                waiting.await(waiting.flag(home), round);
                EXPECT_EQ(waiting.data(1 - home), round);
            }
        }
        ASSERT_TRUE(memory.barrier());
    });
}

// The same with plain stores: what a thread has written is released when it begins to wait itself.
TEST_P(VariableWaitTest, WhoWaitsHasReleasedItsOwnFlag) {
    const Watchdog watchdog("two flags");
    tests::run_with_copies(GetParam(), two_hosts, [](Rank& rank, SharedMemory& memory) {
        Waiting waiting(memory);
        ASSERT_TRUE(memory.barrier());
        const int me = rank.rank();
        for (int round = 1; round <= 200; ++round) {
            waiting.data(1 - me) = round;
            waiting.flag(me) = round;
            waiting.await(waiting.flag(1 - me), round);
            EXPECT_EQ(waiting.data(me), round);
            waiting.flush(); // the other rank may look for the flag of this one, which did not need to wait
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// A flush that drops the variable fetches it again, so the next look finds its new value without a fault.
TEST_P(VariableWaitTest, AFlushBringsTheVariableThatTheThreadLooksAt) {
    const Watchdog watchdog("a flush that brings a variable");
    tests::run_with_copies(GetParam(), two_hosts, [](Rank& rank, SharedMemory& memory) {
        constexpr int rounds = 20;
        Waiting waiting(memory);
        volatile int& flag = waiting.flag(0);
        ASSERT_TRUE(memory.barrier());
        for (int round = 1; round <= rounds; ++round) {
            if (rank.rank() == 0) {
                flag = round;
                waiting.flush();
            }
            ASSERT_TRUE(rank.collectives.barrier()); // of the ranks only
            if (rank.rank() == 1) {
                waiting.flush();
                const auto faults = memory.counters(nullptr)->faults;
                waiting.await(flag, round);
                EXPECT_EQ(memory.counters(nullptr)->faults, faults + (round == 1 ? 1 : 0)) << "round " << round;
            }
            ASSERT_TRUE(rank.collectives.barrier());
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, VariableWaitTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
