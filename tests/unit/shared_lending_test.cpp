#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/descriptor.hpp"
#include "platform/fault_signals.hpp"
#include "platform/memory.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Pages that a home lends to a rank of another host: what the home announces of them afterwards.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

constexpr tests::JobOptions two_hosts{.hosts = 2};
constexpr std::size_t lent_pages = 40;

void look_at(const volatile std::uint32_t& word) {
    const std::uint32_t found = word;
    static_cast<void>(found);
}

class SharedLendingTest : public testing::TestWithParam<FaultMechanism> {
protected:
    /// body(rank, memory, at): at(page) is the first number of a page of rank 0, which has written to all of them.
    template <class Body>
    void run(Body body) {
        tests::run_with_copies(GetParam(), two_hosts, [&](Rank& rank, SharedMemory& memory) {
            const std::size_t words = platform::page_size() / sizeof(std::uint32_t);
            auto* const array = tests::allocate_shared<std::uint32_t>(memory, 2 * lent_pages * words);
            const auto at = [&](std::size_t page)->volatile std::uint32_t& { return array[page * words]; };
            for (std::size_t page = 0; page < lent_pages && rank.rank() == 0; ++page) at(page) = 1;
            ASSERT_TRUE(memory.barrier());
            body(rank, memory, at);
            ASSERT_TRUE(memory.barrier());
        });
    }
};

void release(SharedMemory& memory) {
    Locks& locks = **memory.locks("test");
    ASSERT_TRUE(locks.acquire(0));
    ASSERT_TRUE(locks.release(0));
}

TEST_P(SharedLendingTest, PagesThatTheirHomeOnlyReadsAreFetchedOnce) {
    const Watchdog watchdog("pages that are only read");
    run([](Rank& rank, SharedMemory& memory, auto at) {
        for (int round = 0; round < 5; ++round) {
            for (std::size_t page = 0; page < lent_pages; ++page) ASSERT_EQ(at(page), 1U);
            release(memory);
            ASSERT_TRUE(memory.barrier());
        }
        const auto counters = memory.counters(nullptr).value();
        EXPECT_EQ(counters.fetches, rank.rank() == 1 ? lent_pages : 0);
        EXPECT_EQ(counters.notices, 0U);
    });
}

// The home writes before a fetch and after it, in one interval, and releases in between or not.
TEST_P(SharedLendingTest, WhatTheHomeWritesAfterAFetchIsSeen) {
    const Watchdog watchdog("writes after a fetch");
    run([](Rank& rank, SharedMemory& memory, auto at) {
        for (std::uint32_t round = 2; round < 60; ++round) {
            const bool releases = round % 3 == 0;
            const std::size_t page = round % lent_pages;
            if (rank.rank() == 0) at(page) = round;
            ASSERT_TRUE(rank.collectives.barrier());                    // of the ranks only
            if (rank.rank() == 1) look_at(at((page + 1) % lent_pages)); // beside it, and perhaps with it
            if (rank.rank() == 1) look_at(at(page));
            ASSERT_TRUE(rank.collectives.barrier());
            if (releases) release(memory);
            if (rank.rank() == 0) at(page) = round + 1000;
            ASSERT_TRUE(memory.barrier());
            EXPECT_EQ(at(page), round + 1000);
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// A page that two ranks fetch before the home's release, which has written to it in between.
TEST_P(SharedLendingTest, AnOlderCopyIsNotForgottenBecauseOfANewerOne) {
    const Watchdog watchdog("two fetches");
    tests::run_with_copies(GetParam(), {.ranks = 3, .hosts = 3}, [](Rank& rank, SharedMemory& memory) {
        auto* const array = tests::allocate_shared<std::uint32_t>(memory, platform::page_size());
        volatile std::uint32_t& word = *array;
        for (std::uint32_t round = 1; round < 40; ++round) {
            for (const int fetcher : {1, 2}) {
                if (rank.rank() == 0) word = 10 * round + static_cast<std::uint32_t>(fetcher);
                ASSERT_TRUE(rank.collectives.barrier());
                if (rank.rank() == fetcher) look_at(word);
                ASSERT_TRUE(rank.collectives.barrier());
            }
            ASSERT_TRUE(memory.barrier());
            EXPECT_EQ(word, 10 * round + 2) << "round " << round << ", rank " << rank.rank();
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// The kernel fills an array while another host fetches pages of it: none is protected meanwhile, and nothing is
// missing.
TEST_P(SharedLendingTest, ASystemCallFillsABufferThatIsFetchedMeanwhile) {
    const Watchdog watchdog("a system call");
    tests::run_with_copies(GetParam(), two_hosts, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t rounds = 4, bytes = std::size_t{4} << 20;
        const std::size_t page = platform::page_size();
        auto* const array = tests::allocate_shared<char>(memory, 2 * rounds * bytes); // the first half is rank 0's
        const platform::Descriptor file(memfd_create("shared-lending-test", 0));
        ASSERT_EQ(ftruncate(file.get(), bytes), 0);
        for (std::size_t round = 0; round < rounds; ++round) {
            char* const buffer = array + round * bytes;
            ASSERT_TRUE(rank.collectives.barrier()); // of the ranks only
            if (rank.rank() == 0) {
                platform::KernelAccess access;
                access.touch(std::as_bytes(std::span(buffer, bytes)), platform::Attempt::write);
                EXPECT_EQ(pread(file.get(), buffer, bytes, 0), static_cast<ssize_t>(bytes)) << "round " << round;
            } else {
                for (std::size_t at = page; at <= bytes; at += 3 * page) // no run of pages
                    static_cast<void>(static_cast<const volatile char*>(buffer)[bytes - at] + 0);
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedLendingTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
