#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tuple>
#include <vector>

#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Memory that the ranks have already and make a shared array, and homes that never fault.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

class AdoptedMemoryTest : public testing::TestWithParam<std::tuple<FaultMechanism, int>> {
protected:
    template <class Body>
    void run(Body body) {
        const auto [mechanism, hosts] = GetParam();
        tests::run_with_copies(mechanism, {.ranks = 3, .hosts = hosts}, body);
    }
};

/// Memory of the rank, filled with a byte.
std::span<std::byte> own_memory(std::size_t pages, int byte) {
    const std::size_t bytes = pages * platform::page_size();
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    std::memset(memory, byte, bytes);
    return {static_cast<std::byte*>(memory), bytes};
}

TEST_P(AdoptedMemoryTest, HasTheContentsOfRank0AndEveryoneSeesWhatAnyoneWrites) {
    const Watchdog watchdog("adopts memory");
    run([](Rank& rank, SharedMemory& memory) {
        const auto bytes = own_memory(5, rank.rank() + 1);
        ASSERT_TRUE(memory.adopt(bytes, {.placement = Placement::first_rank}, SharedMemory::AtHome::never_faults));
        for (const std::byte each : bytes) ASSERT_EQ(each, std::byte{1});
        ASSERT_TRUE(memory.barrier());
        for (int round = 2; round < 6; ++round) {
            for (auto at = static_cast<std::size_t>(rank.rank()); at < bytes.size(); at += 3)
                bytes[at] = static_cast<std::byte>(round);
            ASSERT_TRUE(memory.barrier());
            for (const std::byte each : bytes) ASSERT_EQ(each, static_cast<std::byte>(round));
            ASSERT_TRUE(memory.barrier());
        }
        const auto counters = *memory.counters(bytes.data());
        EXPECT_EQ(counters.faults == 0, rank.rank() == 0);
        EXPECT_EQ(counters.fetches == 0, rank.rank() == 0);
    });
}

TEST_P(AdoptedMemoryTest, LocksAnnounceTheWritesOfAHomeThatDoesNotFault) {
    const Watchdog watchdog("counts under a lock");
    run([](Rank& rank, SharedMemory& memory) {
        constexpr int rounds = 300;
        auto allocated = memory.allocate_open(3 * platform::page_size(), Placement::block, explain::Use::array);
        ASSERT_TRUE(allocated);
        auto* const counter = static_cast<int*>(*allocated); // on the page whose home is rank 0
        Locks& locks = **memory.locks("test");
        for (int round = 0; round < rounds; ++round) {
            ASSERT_TRUE(locks.acquire(7));
            ++*counter;
            ASSERT_TRUE(locks.release(7));
        }
        ASSERT_TRUE(memory.barrier());
        EXPECT_EQ(*counter, rounds * rank.size());
        EXPECT_EQ(memory.counters(counter)->faults == 0, rank.rank() == 0);
    });
}

// Pages whose homes never fault, and copies of them.

TEST_P(AdoptedMemoryTest, CopiesStayWhereTheHomeChangesNothing) {
    const Watchdog watchdog("looks at pages that stay");
    run([](Rank& rank, SharedMemory& memory) {
        constexpr int rounds = 40;
        auto allocated = memory.allocate_open(4 * platform::page_size(), Placement::first_rank, explain::Use::array);
        ASSERT_TRUE(allocated);
        auto* const values = static_cast<volatile int*>(*allocated);
        if (rank.rank() == 0) values[5] = 42;
        for (int round = 0; round < rounds; ++round) {
            ASSERT_TRUE(memory.barrier());
            ASSERT_EQ(values[5], 42);
        }
        // After 4 releases, 8 more, and so on, the home asks whether anybody still reads the page.
        const auto counters = *memory.counters(*allocated);
        EXPECT_LE(counters.fetches, rank.rank() == 0 ? 0 : 5);
        EXPECT_LE(counters.notices, rank.rank() == 0 ? 4 : 0);
    });
}

TEST_P(AdoptedMemoryTest, LittleThatTheHomeChangesComesWithTheBarrier) {
    const Watchdog watchdog("gets little changes");
    run([](Rank& rank, SharedMemory& memory) {
        constexpr int rounds = 40;
        auto allocated = memory.allocate_open(2 * platform::page_size(), Placement::first_rank, explain::Use::array);
        ASSERT_TRUE(allocated);
        auto* const values = static_cast<volatile int*>(*allocated);
        for (int round = 1; round < rounds; ++round) {
            if (rank.rank() == 0) values[7] = round;
            ASSERT_TRUE(memory.barrier());
            ASSERT_EQ(values[7], round);
            ASSERT_TRUE(memory.barrier());
        }
        const auto counters = *memory.counters(*allocated);
        EXPECT_LE(counters.fetches, rank.rank() == 0 ? 0 : 7);
        EXPECT_EQ(counters.updates >= 30, rank.rank() != 0);
    });
}

TEST_P(AdoptedMemoryTest, MuchThatTheHomeChangesIsFetched) {
    const Watchdog watchdog("fetches what has changed");
    run([](Rank& rank, SharedMemory& memory) {
        const std::size_t bytes = 100 * platform::page_size(); // more pages than have a place at the home
        auto allocated = memory.allocate_open(bytes, Placement::first_rank, explain::Use::array);
        ASSERT_TRUE(allocated);
        auto* const values = static_cast<volatile std::uint8_t*>(*allocated);
        for (int round = 1; round < 12; ++round) {
            const std::size_t stride = round % 3 == 0 ? platform::page_size() : 2;
            if (rank.rank() == 0)
                for (std::size_t at = 0; at < bytes; at += stride) values[at] = static_cast<std::uint8_t>(round);
            ASSERT_TRUE(memory.barrier());
            // Backwards, so that pages come one by one.
            for (std::size_t page = bytes / platform::page_size(); page-- > 0;)
                ASSERT_EQ(values[page * platform::page_size()], round) << page;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// A byte that another rank has changed gets back, by the home, the value that third ranks and the home knew before.
TEST_P(AdoptedMemoryTest, AValueThatComesBackIsSeen) {
    const Watchdog watchdog("changes a value and takes it back");
    run([](Rank& rank, SharedMemory& memory) {
        auto allocated = memory.allocate_open(platform::page_size(), Placement::first_rank, explain::Use::array);
        ASSERT_TRUE(allocated);
        auto* const values = static_cast<volatile int*>(*allocated);
        for (int round = 0; round < 20; ++round) {
            ASSERT_EQ(values[3], 0) << round;
            ASSERT_TRUE(memory.barrier());
            if (rank.rank() == 1) values[3] = 1;
            ASSERT_TRUE(memory.barrier());
            if (rank.rank() == 0) values[3] = 0;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Homes that are exceptions from a formula or follow from touches, in memory with zeros and contents.
TEST_P(AdoptedMemoryTest, HasTheHomesThatAreWanted) {
    const Watchdog watchdog("adopts memory with homes");
    run([](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 12;
        const std::size_t page = platform::page_size();
        for (const Placement placement : {Placement::first, Placement::relocated, Placement::cyclic}) {
            const auto bytes = own_memory(pages, 0);
            const auto at = [&](std::size_t number) -> std::byte& { return bytes[number * page + 5]; };
            for (const std::size_t number : {1u, 4u, 5u, 7u}) at(number) = static_cast<std::byte>(rank.rank() + 1);
            const HomeRun exceptions[] = {{2, 2, 1}, {6, 1, 2}, {8, 2, KUMIKI_HOME_OPEN}};
            ASSERT_TRUE(memory.adopt(
                bytes, {.placement = placement, .until_touched = Placement::first_rank, .exceptions = exceptions},
                SharedMemory::AtHome::faults));
            const auto home = [&](std::size_t number) { return memory.home(&at(number)).value(); };
            for (const std::size_t number : {8u, 9u}) EXPECT_EQ(home(number), KUMIKI_HOME_OPEN);
            if (is_by_touch(placement)) {
                EXPECT_EQ(home(4), KUMIKI_HOME_OPEN);
            }
            // Rank 2 reads contents of rank 0, and writes to zeros; rank 1 both to one page.
            if (rank.rank() == 2) {
                EXPECT_EQ(at(4), std::byte{1});
                at(8) = std::byte{9};
            }
            if (rank.rank() == 1) {
                EXPECT_EQ(at(5), std::byte{1});
                at(5) = std::byte{8};
                bytes[9 * page + 1] = std::byte{7};
            }
            if (rank.rank() == 0) at(9) = std::byte{6};
            ASSERT_TRUE(memory.barrier());
            const bool by_touch = is_by_touch(placement);
            const std::vector<int> expected = {by_touch ? KUMIKI_HOME_OPEN : 0,
                                               by_touch ? KUMIKI_HOME_OPEN : 1,
                                               1,
                                               1,
                                               by_touch ? 2 : 1,
                                               by_touch ? 1 : 2,
                                               2,
                                               by_touch ? KUMIKI_HOME_OPEN : 1,
                                               2,
                                               0};
            for (std::size_t number = 0; number < expected.size(); ++number)
                EXPECT_EQ(home(number), expected[number]) << "page " << number;
            EXPECT_EQ(at(1), std::byte{1});
            EXPECT_EQ(at(4), std::byte{1});
            EXPECT_EQ(at(5), std::byte{8});
            EXPECT_EQ(at(7), std::byte{1});
            EXPECT_EQ(at(8), std::byte{9});
            EXPECT_EQ(at(9), std::byte{6});
            EXPECT_EQ(bytes[9 * page + 1], std::byte{7});
            for (const std::size_t number : {0u, 2u, 3u, 6u, 10u, 11u}) EXPECT_EQ(at(number), std::byte{0});
            ASSERT_TRUE(memory.barrier());
            const auto before = *memory.counters(bytes.data()); // the rest is at its home, and costs nothing
            if (by_touch)
                for (int round = 0; round < 3; ++round) {
                    if (rank.rank() == 2) at(8) = static_cast<std::byte>(round);
                    ASSERT_TRUE(memory.barrier());
                }
            EXPECT_EQ(memory.counters(bytes.data())->fetches, before.fetches);
            ASSERT_TRUE(memory.barrier());
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Faults, AdoptedMemoryTest, testing::Combine(tests::every_mechanism, testing::Values(1, 2)),
                         [](const auto& each) {
                             return (std::get<0>(each.param) == FaultMechanism::userfaultfd ? "UserfaultfdOver"
                                                                                            : "ProtectionOver") +
                                    std::to_string(std::get<1>(each.param)) + "Hosts";
                         });

} // namespace
} // namespace kumiki::dsm
