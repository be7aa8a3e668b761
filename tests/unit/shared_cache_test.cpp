#include <algorithm>
#include <atomic>
#include <bit>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

#include "platform/memory.hpp"
#include "support/build.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// A bound for the copies of a rank (KUMIKI_SHARED_CACHE), with ranks that are threads of one process, over copies per
// rank and over two hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t least = std::uint64_t{256} << 10; ///< of a rank, whatever is asked for

class SharedCacheTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(int ranks, Body body) {
        for (const int hosts : {1, 2})
            for (const SharedProtocol protocol : tests::every_protocol)
                tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = hosts}, body, protocol, 4096);
    }
};

/// The bytes of an array that have memory at this rank.
std::size_t resident(Rank& rank, std::size_t offset, std::size_t bytes) {
    const fabric::HostMemory& memory = rank.fabric.memory();
    std::size_t found = 0;
    platform::find_data(memory.descriptor(), memory.file_offset(memory.own_arena() + offset), bytes,
                        [&](std::size_t begin, std::size_t end) { found += end - begin; });
    return found;
}

// An array that is far longer than what a rank may hold, read and written by the rank that is not its home.
TEST_P(SharedCacheTest, AnArrayMayBeLongerThanTheCache) {
    const Watchdog watchdog("an array longer than the cache");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 1024, words = page_bytes / sizeof(std::uint32_t);
        auto* const array = tests::allocate_shared<std::uint32_t>(memory, pages * words, Placement::first_rank);
        // Arrays are as far from the beginning of all arrays as their regions are from that of the arena.
        const std::byte* const base =
            platform::unused_addresses() + static_cast<std::size_t>(rank.rank()) * (std::size_t{64} << 20);
        const auto offset = static_cast<std::size_t>(reinterpret_cast<std::byte*>(array) - base);
        for (std::uint32_t round = 1; round <= 3; ++round) {
            if (rank.rank() == 1)
                for (std::size_t at = 0; at < pages; ++at) {
                    ASSERT_EQ(array[at * words + 3], (round - 1) * (at + 1)) << "page " << at;
                    array[at * words + 3] = static_cast<std::uint32_t>(round * (at + 1));
                }
            ASSERT_TRUE(memory.barrier());
            for (std::size_t at = 0; at < pages; ++at)
                ASSERT_EQ(array[at * words + 3], round * (at + 1)) << "page " << at << " round " << round;
            if (rank.rank() == 1) {
                EXPECT_LE(resident(rank, offset, pages * page_bytes), least + page_bytes);
            }
            ASSERT_TRUE(memory.barrier());
        }
        const auto counters = memory.counters(nullptr).value();
        if (rank.rank() == 1) {
            EXPECT_GE(counters.evictions, 3 * (pages - least / page_bytes));
        } else {
            EXPECT_EQ(counters.evictions, 0u);
        }
    });
}

// Of an array that is longer than the memory of a host, each of several hosts needs its part and the bound.
TEST_P(SharedCacheTest, AnArrayMayBeLongerThanTheMemoryOfAHost) {
    if (tests::sanitized) GTEST_SKIP() << "sanitizers have other uses for so many addresses";
    const Watchdog watchdog("an array longer than memory");
    const std::size_t bytes = platform::round_up(platform::available_memory() / 2 * 3, page_bytes);
    const auto body = [bytes](Rank& rank, SharedMemory& memory) {
        const auto refused = memory.allocate(bytes, 0, Placement::first_rank); // whose memory that would be
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find(rank.rank() == 0 ? "memory, and this host" : "another rank"),
                  std::string::npos);
        auto* const array = tests::allocate_shared<std::byte>(memory, bytes, Placement::first);
        constexpr std::size_t places = 100;
        const std::size_t step = bytes / places;
        for (auto at = static_cast<std::size_t>(rank.rank()); at < places; at += 2)
            array[at * step] = std::byte(at + 1);
        ASSERT_TRUE(memory.barrier());
        for (std::size_t at = 0; at < places; ++at) ASSERT_EQ(array[at * step], std::byte(at + 1)) << "place " << at;
        ASSERT_TRUE(memory.barrier());
    };
    tests::run_with_copies(GetParam(), {.ranks = 2, .hosts = 2, .arena_bytes = std::bit_ceil(bytes) * 2}, body,
                           SharedProtocol::invalidate, 4096);
}

/// Random, without data races: each byte belongs to one rank in each interval, or to a lock. Neighbours differ.
void run_random_program(Rank& rank, SharedMemory& memory, unsigned seed) {
    std::mt19937 engine(seed); // the same at every rank
    const auto random = [&engine] { return static_cast<unsigned>(engine()); };
    const std::size_t length = page_bytes << random() % 3, bytes = 150 * page_bytes + random() % (150 * page_bytes);
    const auto placement = tests::every_placement[random() % std::size(tests::every_placement)];
    auto* const array = tests::allocate_shared<std::uint8_t>(memory, bytes, placement, length);
    std::vector<std::uint8_t> expected(bytes);
    const auto ranks = static_cast<unsigned>(rank.size());
    Locks& locks = **memory.locks("test");
    for (int interval = 0; interval < 4; ++interval) {
        const unsigned deal = random(), stride = 100 + random() % 3000;
        for (std::size_t at = random() % stride; at + 1 < bytes; at += stride) {
            const auto value = static_cast<std::uint8_t>(random());
            const unsigned writer = (static_cast<unsigned>(at) + deal) % ranks;
            if (static_cast<int>(writer) == rank.rank()) array[at] = value;
            expected[at] = value;
        }
        // The last byte belongs to a lock.
        ASSERT_TRUE(locks.acquire(interval));
        volatile std::uint8_t& last = array[bytes - 1];
        last = static_cast<std::uint8_t>(last + 1);
        ASSERT_TRUE(locks.release(interval));
        expected[bytes - 1] = static_cast<std::uint8_t>(expected[bytes - 1] + ranks);
        ASSERT_TRUE(memory.barrier());
        const std::size_t look = 1 + random() % 2000, begin = random() % bytes;
        for (std::size_t at = 0; at < bytes; at += look) {
            const std::size_t place = (begin + at * 7) % bytes;
            ASSERT_EQ(array[place], expected[place])
                << "seed " << seed << " homes " << static_cast<int>(placement) << " interval " << interval;
        }
        ASSERT_TRUE(memory.barrier());
    }
    ASSERT_TRUE(memory.release(array));
}

TEST_P(SharedCacheTest, RandomProgramsAgreeWithASequentialRun) {
    const Watchdog watchdog("random programs with a small cache");
    const unsigned first = std::random_device{}();
    run(3, [&](Rank& rank, SharedMemory& memory) {
        for (unsigned program = 0; program < tests::programs(2); ++program)
            run_random_program(rank, memory, first + program);
    });
}

// Threads evict what others of their rank have just written, while one of them releases locks.
TEST_P(SharedCacheTest, ThreadsThatEvictEachOthersPagesLoseNothing) {
    const Watchdog watchdog("threads that evict each other's pages");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t threads = 3, pages = 200, words = page_bytes / sizeof(std::uint32_t);
        constexpr std::uint32_t rounds = tests::sanitized ? 2 : 4;
        auto* const array = tests::allocate_shared<std::uint32_t>(memory, pages * words, Placement::cyclic);
        Locks& locks = **memory.locks("test");
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            std::vector<std::thread> team;
            for (std::size_t thread = 0; thread < threads; ++thread)
                team.emplace_back([&, thread] {
                    const std::size_t own = thread * 2 + static_cast<std::size_t>(rank.rank());
                    for (std::size_t turn = 0; turn < pages; ++turn) {
                        std::uint32_t& word = array[(turn * 37 + thread * 50) % pages * words + own];
                        EXPECT_EQ(word, round - 1);
                        word = round;
                        if (turn % 16 == thread) {
                            ASSERT_TRUE(locks.acquire(static_cast<int>(turn % 5)));
                            ASSERT_TRUE(locks.release(static_cast<int>(turn % 5)));
                        }
                    }
                });
            for (auto& each : team) each.join();
            ASSERT_TRUE(memory.barrier());
            for (std::size_t at = 0; at < pages; ++at)
                for (std::size_t word = 0; word < threads * 2; ++word)
                    ASSERT_EQ(array[at * words + word], round) << "page " << at << " word " << word;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// A copy that was released may be evicted before its home has got the difference; it must not be fetched again without
// what this rank has written. One thread releases as many written pages as the cache has room for, which are no
// neighbours, while the other one touches further pages, so that these leave in order, and then reads the first ones.
TEST_P(SharedCacheTest, AThreadReadsWhatItHasWrittenWhileAnotherOneReleases) {
    const Watchdog watchdog("evictions during releases");
    const auto body = [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = least / page_bytes, further = 8, words = 2 * page_bytes / sizeof(std::uint32_t);
        auto* const array =
            tests::allocate_shared<std::uint32_t>(memory, (pages + further) * words, Placement::first_rank);
        if (rank.rank() == 1) {
            Locks& locks = **memory.locks("test");
            std::atomic<std::uint32_t> written{0}, released{0};
            constexpr std::uint32_t laps = 20;
            std::thread releases([&] {
                for (std::uint32_t lap = 1; lap <= laps; ++lap) {
                    while (written < lap) std::this_thread::yield();
                    ASSERT_TRUE(locks.acquire(1));
                    ASSERT_TRUE(locks.release(1));
                    released = lap;
                }
            });
            std::size_t old = 0;
            for (std::uint32_t lap = 1; lap <= laps; ++lap) {
                for (std::size_t page = 0; page < pages; ++page) array[page * words] = lap;
                written = lap;
                for (std::size_t at = 0; released < lap; ++at) {
                    static_cast<void>(*static_cast<volatile std::uint32_t*>(&array[(pages + at % further) * words]));
                    old += array[at % pages * words] != lap ? 1 : 0;
                }
            }
            releases.join();
            EXPECT_EQ(old, 0u);
        }
        ASSERT_TRUE(memory.barrier());
    };
    tests::run_with_copies(GetParam(), {.ranks = 2, .hosts = 2}, body, SharedProtocol::invalidate, 4096);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedCacheTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
