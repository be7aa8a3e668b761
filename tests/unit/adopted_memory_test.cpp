#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tuple>

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
        ASSERT_TRUE(memory.adopt(bytes, Placement::first_rank));
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
        auto allocated = memory.allocate_open(3 * platform::page_size(), Placement::block);
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

INSTANTIATE_TEST_SUITE_P(Faults, AdoptedMemoryTest, testing::Combine(tests::every_mechanism, testing::Values(1, 2)),
                         [](const auto& each) {
                             return (std::get<0>(each.param) == FaultMechanism::userfaultfd ? "UserfaultfdOver"
                                                                                            : "ProtectionOver") +
                                    std::to_string(std::get<1>(each.param)) + "Hosts";
                         });

} // namespace
} // namespace kumiki::dsm
