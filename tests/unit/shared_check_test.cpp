#include <array>
#include <barrier>
#include <cstddef>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <vector>

#include "support/build.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// The race check, with ranks that are threads of one process, over copies per rank and over two hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

class SharedCheckTest : public testing::TestWithParam<FaultMechanism> {
protected:
    /// On one host and on two. The ranks may meet at `order`, which the check does not know, to write in a known order.
    template <class Body>
    void run(int ranks, Body body, std::uint64_t cache = 0) {
        const Watchdog watchdog("the race check");
        for (const int hosts : {1, 2}) {
            SCOPED_TRACE(hosts);
            std::barrier order(ranks);
            tests::run_with_copies(
                GetParam(), {.ranks = ranks, .hosts = hosts},
                [&](Rank& rank, SharedMemory& memory) { body(rank, memory, order); }, SharedProtocol::invalidate, cache,
                true);
        }
    }
};

volatile std::uint8_t* allocate(SharedMemory& memory, std::size_t bytes, Placement placement = Placement::block,
                                std::size_t page = 0) {
    return tests::allocate_shared<std::uint8_t>(memory, bytes, placement, page);
}

struct Lock {
    SharedMemory& memory;
    int number;
    void lock() { ASSERT_TRUE((*memory.locks("test"))->acquire(number)); }
    void unlock() { ASSERT_TRUE((*memory.locks("test"))->release(number)); }
};

/// What rank 0 knows after a barrier.
std::vector<Race> races_of(Rank& rank, SharedMemory& memory) {
    EXPECT_TRUE(memory.barrier());
    return rank.rank() == 0 ? memory.races()->all() : std::vector<Race>{};
}

void expect_none(Rank& rank, SharedMemory& memory) { EXPECT_EQ(races_of(rank, memory).size(), 0u); }

/// Exactly one, of these bytes.
void expect_race(Rank& rank, SharedMemory& memory, std::array<std::uint32_t, 2> ranks, std::size_t begin,
                 std::size_t end) {
    const auto races = races_of(rank, memory);
    if (rank.rank() != 0) return;
    ASSERT_EQ(races.size(), 1u);
    EXPECT_EQ(races[0].ranks, ranks);
    EXPECT_EQ(races[0].begin, begin);
    EXPECT_EQ(races[0].end, end);
}

TEST_P(SharedCheckTest, AByteThatHomeAndAnotherRankWriteIsARace) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 9000, Placement::first_rank);
        ASSERT_TRUE(memory.barrier());
        array[5000] = static_cast<std::uint8_t>(rank.rank() + 1);
        const auto races = races_of(rank, memory);
        if (rank.rank() != 0) return;
        ASSERT_EQ(races.size(), 1u);
        const Race& race = races[0];
        EXPECT_EQ(race.ranks, (std::array<std::uint32_t, 2>{0, 1}));
        EXPECT_EQ(race.begin, 5000u);
        EXPECT_EQ(race.end, 5001u);
        EXPECT_EQ(race.array, reinterpret_cast<std::uintptr_t>(array));
        EXPECT_EQ(race.barriers, 1u);
        EXPECT_EQ(race.intervals, 1u);
        EXPECT_EQ(race.faulted, (std::array{true, true}));
        EXPECT_EQ(race.exact, (std::array{true, true}));
        EXPECT_NE(race.code[0], 0u);
        EXPECT_EQ(race.code[0], race.code[1]);
    });
}

TEST_P(SharedCheckTest, TwoRanksThatAreNotTheHome) {
    run(3, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 9000, Placement::first_rank);
        for (int round = 1; round <= 3; ++round) {
            if (rank.rank() > 0)
                for (int at = 100; at < 108; ++at) array[at] = static_cast<std::uint8_t>(10 * rank.rank() + round);
            ASSERT_TRUE(memory.barrier());
        }
        const auto races = races_of(rank, memory);
        if (rank.rank() != 0) return;
        ASSERT_EQ(races.size(), 1u);
        EXPECT_EQ(races[0].ranks, (std::array<std::uint32_t, 2>{1, 2}));
        EXPECT_EQ(races[0].begin, 100u);
        EXPECT_EQ(races[0].end, 108u);
        EXPECT_EQ(races[0].intervals, 3u);
    });
}

TEST_P(SharedCheckTest, NeighbouringBytesAreNone) {
    run(3, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 20000);
        for (int round = 1; round <= 4; ++round) {
            for (int at = rank.rank(); at < 20000; at += rank.size())
                array[at] = static_cast<std::uint8_t>(at + 7 * round + 1);
            ASSERT_TRUE(memory.barrier());
        }
        expect_none(rank, memory);
    });
}

TEST_P(SharedCheckTest, ABarrierOrders) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 5000);
        for (int round = 0; round < 6; ++round) {
            if (round % 2 == rank.rank()) array[17] = static_cast<std::uint8_t>(round + 1);
            ASSERT_TRUE(memory.barrier());
        }
        expect_none(rank, memory);
    });
}

TEST_P(SharedCheckTest, ALockOrders) {
    run(3, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 5000);
        for (int round = 0; round < 20; ++round) {
            Lock lock{memory, 4};
            const std::lock_guard guard(lock);
            array[17] = static_cast<std::uint8_t>(array[17] + 1);
        }
        expect_none(rank, memory);
        EXPECT_EQ(array[17], 60);
        ASSERT_TRUE(memory.barrier());
    });
}

// The notices of these locks are in one log, so the second rank learns of the first one's write: it is a race anyway.
TEST_P(SharedCheckTest, LocksThatDifferDoNotOrder) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>& order) {
        auto* const array = allocate(memory, 5000);
        ASSERT_TRUE(memory.barrier());
        if (rank.rank() == 1) order.arrive_and_wait();
        {
            Lock lock{memory, 4 + 2 * rank.rank()};
            const std::lock_guard guard(lock);
            array[17] = static_cast<std::uint8_t>(rank.rank() + 1);
        }
        if (rank.rank() == 0) order.arrive_and_wait();
        expect_race(rank, memory, {0, 1}, 17, 18);
    });
}

TEST_P(SharedCheckTest, AChainOfLocksOrders) {
    run(3, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 50000, Placement::cyclic);
        ASSERT_TRUE(memory.barrier());
        const auto wait_for = [&](int lock, int flag) {
            for (bool came = false; !came;) {
                Lock held{memory, lock};
                const std::lock_guard guard(held);
                came = array[flag] != 0;
            }
        };
        const auto set = [&](int lock, int flag) {
            Lock held{memory, lock};
            const std::lock_guard guard(held);
            array[flag] = 1;
        };
        if (rank.rank() > 0) wait_for(rank.rank(), 10000 * rank.rank());
        array[3] = static_cast<std::uint8_t>(rank.rank() + 1);
        if (rank.rank() < 2) set(rank.rank() + 1, 10000 * (rank.rank() + 1));
        expect_none(rank, memory);
    });
}

// A rank writes before it takes the lock that another one has passed on, so the lock does not order this write.
TEST_P(SharedCheckTest, AnAcquisitionOrdersOnlyWhatFollows) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>& order) {
        auto* const array = allocate(memory, 5000);
        ASSERT_TRUE(memory.barrier());
        if (rank.rank() == 1) array[40] = 9;
        if (rank.rank() == 1) order.arrive_and_wait();
        {
            Lock lock{memory, 3};
            const std::lock_guard guard(lock);
            if (rank.rank() == 0) array[40] = 1;
        }
        if (rank.rank() == 0) order.arrive_and_wait();
        expect_race(rank, memory, {0, 1}, 40, 41);
    });
}

// The difference of another rank changes a byte that the home has written, or is about to write.
TEST_P(SharedCheckTest, TheHomesWritesAreSeenBesideDifferences) {
    for (const bool home_first : {true, false})
        run(2, [home_first](Rank& rank, SharedMemory& memory, std::barrier<>& order) {
            auto* const array = allocate(memory, 5000, Placement::first_rank);
            ASSERT_TRUE(memory.barrier());
            const bool first = (rank.rank() == 0) == home_first;
            if (rank.rank() == 0) array[200] = 1; // the page has a twin before any difference comes
            order.arrive_and_wait();
            if (!first) order.arrive_and_wait();
            array[40] = static_cast<std::uint8_t>(rank.rank() + 1);
            array[60 + rank.rank()] = 5;
            if (rank.rank() == 1) { // sends it now
                Lock lock{memory, 3};
                const std::lock_guard guard(lock);
            }
            if (first) order.arrive_and_wait();
            expect_race(rank, memory, {0, 1}, 40, 41);
        });
}

// Memory whose homes do not fault, as stacks: the home's writes are found all the same, but not by which instruction.
TEST_P(SharedCheckTest, MemoryThatIsOpenAtItsHome) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto allocated = memory.allocate_open(30000, Placement::first_rank, explain::Use::stacks);
        ASSERT_TRUE(allocated) << allocated.error().message;
        auto* const bytes = static_cast<volatile std::uint8_t*>(*allocated);
        for (int round = 1; round < 4; ++round) {
            for (int at = rank.rank(); at < 9000; at += 2) bytes[at] = static_cast<std::uint8_t>(at + 3 * round + 1);
            ASSERT_TRUE(memory.barrier());
        }
        expect_none(rank, memory);
        bytes[20001] = static_cast<std::uint8_t>(rank.rank() + 1);
        const auto races = races_of(rank, memory);
        if (rank.rank() != 0) return;
        ASSERT_EQ(races.size(), 1u);
        EXPECT_EQ(races[0].begin, 20001u);
        EXPECT_EQ(races[0].end, 20002u);
        EXPECT_EQ(races[0].faulted, (std::array{false, true}));
    });
}

TEST_P(SharedCheckTest, ReadingIsNone) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 5000);
        int sum = 0;
        for (int round = 1; round <= 5; ++round) {
            if (rank.rank() == 1) array[1000] = static_cast<std::uint8_t>(round);
            else sum += array[1000];
            ASSERT_TRUE(memory.barrier());
        }
        EXPECT_GE(sum, 0);
        expect_none(rank, memory);
    });
}

TEST_P(SharedCheckTest, AnArrayIsLookedAtBeforeItGoes) {
    run(2, [](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        auto* const array = allocate(memory, 5000);
        array[3] = static_cast<std::uint8_t>(rank.rank() + 1);
        ASSERT_TRUE(memory.release(const_cast<std::uint8_t*>(array)));
        expect_race(rank, memory, {0, 1}, 3, 4);
    });
}

/// Without races, but for one byte: each byte belongs to a lock, or for one interval between barriers to one rank. In
/// one interval all ranks but one write a byte that nobody else uses, before they take any lock.
struct RandomProgram {
    unsigned seed;
    bool planted;
    std::size_t place = 0; ///< of the race

    void run(Rank& rank, SharedMemory& memory) {
        std::mt19937 engine(seed); // the same at every rank
        const auto random = [&engine] { return static_cast<unsigned>(engine()); };
        const std::size_t page = platform::page_size() << random() % 3;
        const std::size_t bytes = 2 + random() % (10 * page);
        const auto placement = tests::every_placement[random() % std::size(tests::every_placement)];
        auto* const array = allocate(memory, bytes, placement, page);
        const auto ranks = static_cast<unsigned>(rank.size());
        const unsigned locks = 1 + random() % 6, racing = random() % 4;
        place = random() % bytes;
        for (unsigned interval = 0; interval < 4; ++interval) {
            if (planted && interval == racing && rank.rank() < 2)
                array[place] = static_cast<std::uint8_t>(array[place] + 1 + rank.rank());
            const unsigned deal = random();
            for (unsigned step = 0; step < ranks * 8; ++step) {
                const unsigned who = random() % ranks, lock = random() % locks;
                const std::size_t begin = random() % bytes, end = begin + random() % (bytes - begin + 1);
                const std::size_t stride = 1 + random() % 300;
                const auto addend = static_cast<std::uint8_t>(random() | 1);
                if (static_cast<int>(who) != rank.rank()) continue;
                Lock held{memory, static_cast<int>(lock)};
                const std::lock_guard guard(held);
                for (std::size_t at = begin; at < end; at += stride) {
                    const auto owner = static_cast<unsigned>(at * 7 % (locks + ranks));
                    const bool own = owner >= locks && (owner + deal) % ranks == who;
                    if (at != place && (owner == lock || own))
                        array[at] = static_cast<std::uint8_t>(array[at] + addend);
                }
            }
            ASSERT_TRUE(memory.barrier());
        }
        ASSERT_TRUE(memory.release(const_cast<std::uint8_t*>(array)));
    }
};

TEST_P(SharedCheckTest, RandomProgramsWithoutRacesHaveNone) {
    const unsigned first = std::random_device{}();
    run(3, [first](Rank& rank, SharedMemory& memory, std::barrier<>&) {
        for (unsigned program = 0; program < tests::programs(6); ++program)
            RandomProgram{first + program, false}.run(rank, memory);
        EXPECT_EQ(races_of(rank, memory).size(), 0u) << "seed " << first;
    });
}

TEST_P(SharedCheckTest, ARaceInARandomProgramIsFoundAndNothingElse) {
    const unsigned first = std::random_device{}();
    for (unsigned program = 0; program < tests::programs(6); ++program)
        run(
            3,
            [seed = first + program](Rank& rank, SharedMemory& memory, std::barrier<>&) {
                SCOPED_TRACE(seed);
                RandomProgram random{seed, true};
                random.run(rank, memory);
                expect_race(rank, memory, {0, 1}, random.place, random.place + 1);
            },
            program % 3 == 2 ? std::uint64_t{1} << 20 : 0);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedCheckTest, tests::every_mechanism, tests::mechanism_name);

// -- races by themselves --

/// One interval of a rank in one page of 4096 bytes.
struct Sample {
    std::vector<std::uint64_t> seen, mask = std::vector<std::uint64_t>(64);
    std::uint32_t rank;
    Writer first;

    Sample(std::uint32_t of, std::vector<std::uint64_t> clock, std::initializer_list<std::size_t> bytes)
        : seen(std::move(clock)), rank(of), first{0x100 + of, *bytes.begin()} {
        for (const std::size_t byte : bytes) mask[byte / 64] |= std::uint64_t{1} << byte % 64;
    }
    PageWrites writes(std::uint64_t page = 0) const { return {3, rank, page, seen[rank], first, seen, mask}; }
};

bool find(Races& races, std::initializer_list<PageWrites> writes, std::uint64_t barriers = 0) {
    return races.find(std::vector(writes), barriers, [](std::uint32_t array) { return array * 1000U; });
}

TEST(RacesTest, SurviveTheirTravel) {
    const Sample sample(1, {5, 7}, {0, 63, 64, 4095});
    std::vector<std::uint64_t> words;
    sample.writes(9).append_to(words);
    sample.writes(10).append_to(words);
    std::span<const std::uint64_t> left = words;
    const PageWrites first = PageWrites::read(left, 2), second = PageWrites::read(left, 2);
    EXPECT_TRUE(left.empty());
    EXPECT_EQ(first.page, 9u);
    EXPECT_EQ(second.page, 10u);
    EXPECT_EQ(second.interval, 7u);
    EXPECT_EQ(second.first.code, 0x101u);
    EXPECT_TRUE(std::ranges::equal(second.mask, sample.mask));
    EXPECT_TRUE(std::ranges::equal(second.seen, sample.seen));
}

TEST(RacesTest, OrderIsNoRace) {
    Races races;
    const Sample one(0, {1, 0}, {8}), later(1, {1, 1}, {8});
    EXPECT_FALSE(find(races, {one.writes(), later.writes()}));
    EXPECT_TRUE(races.all().empty());
}

TEST(RacesTest, PartsOfANumberAreOneRaceAndOtherNumbersAreOthers) {
    Races races;
    const Sample one(0, {1, 0}, {8, 11, 15, 100, 4095}), other(1, {0, 1}, {4095, 8, 11, 15, 100});
    EXPECT_TRUE(find(races, {one.writes(2), other.writes(2)}));
    ASSERT_EQ(races.all().size(), 3u);
    EXPECT_EQ(races.all()[0].begin, 2 * 4096u + 8);
    EXPECT_EQ(races.all()[0].end, 2 * 4096u + 16);
    EXPECT_EQ(races.all()[0].array, 3000u);
    EXPECT_EQ(races.all()[2].end, 3 * 4096u);
    EXPECT_FALSE(find(races, {other.writes(2), one.writes(2)}, 4)); // again
    EXPECT_EQ(races.all()[0].intervals, 2u);
    EXPECT_EQ(races.all()[0].barriers, 0u);
}

TEST(RacesTest, AreGroupedWhenThereAreMany) {
    Races races;
    const Sample one(0, {1, 0}, {8}), other(1, {0, 1}, {8});
    for (std::uint64_t page = 0; page < 200; ++page) find(races, {one.writes(page), other.writes(page)});
    EXPECT_EQ(races.all().size(), Races::most_pieces);
    EXPECT_EQ(races.all().back().end, 199 * 4096u + 9);
    EXPECT_EQ(races.others(), 0u);
}

} // namespace
} // namespace kumiki::dsm
