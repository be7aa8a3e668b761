#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "dsm/difference.hpp"
#include "fabric/network/network.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// The protocol `update`, with ranks that are threads of one process, over copies per rank and over two hosts. The
// random programs of shared_memory_test.cpp and shared_lock_test.cpp use both protocols, too.
namespace kumiki::dsm {
namespace {

using tests::JobOptions;
using tests::Rank;
using tests::Watchdog;

class SharedUpdatesTest : public testing::TestWithParam<FaultMechanism> {
protected:
    /// On one host and on two.
    template <class Body>
    void run(int ranks, Body body) {
        for (const int hosts : {1, 2})
            tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = hosts}, body, SharedProtocol::update);
    }
};

template <class T>
volatile T* allocate(SharedMemory& memory, std::size_t count, Placement placement = Placement::block) {
    return tests::allocate_shared<T>(memory, count, placement);
}

constexpr std::size_t words = 4096 / sizeof(std::uint32_t);

// Other faults than those that find out whether a copy is in use are fetches; after the first rounds there are none.
TEST_P(SharedUpdatesTest, CopiesThatAreReadInEachIntervalAreFetchedOnce) {
    const Watchdog watchdog("copies that stay");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 16; // of each rank
        constexpr std::uint32_t rounds = 40;
        auto* const array = allocate<std::uint32_t>(memory, 2 * pages * words);
        const auto own = static_cast<std::size_t>(rank.rank()) * pages, other = pages - own;
        std::uint64_t fetched = 0;
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            for (std::size_t page = 0; page < pages; ++page) array[(own + page) * words + 5] = round;
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = 0; page < pages; ++page)
                ASSERT_EQ(array[(other + page) * words + 5], round) << "page " << page;
            if (round == 2) fetched = memory.counters(nullptr)->fetches;
            ASSERT_TRUE(memory.barrier());
        }
        const auto counters = memory.counters(nullptr).value();
        EXPECT_EQ(counters.fetches, fetched);
        EXPECT_EQ(counters.invalidations, 0u);
        EXPECT_GE(counters.updates, (rounds - 2) * pages);
    });
}

// Where the network carries the updates, they are the bytes that changed.
TEST_P(SharedUpdatesTest, OverTheNetworkOnlyChangesTravel) {
    const Watchdog watchdog("updates are differences");
    tests::run_with_copies(
        GetParam(), {.ranks = 2, .hosts = 2},
        [](Rank& rank, SharedMemory& memory) {
            auto* const array = allocate<std::uint32_t>(memory, 2 * words);
            kumiki_shared_counters before{};
            for (std::uint32_t round = 1; round <= 30; ++round) {
                if (rank.rank() == 0) array[7] = round;
                ASSERT_TRUE(memory.barrier());
                ASSERT_EQ(array[7], round);
                if (round == 10) before = memory.counters(nullptr).value();
                ASSERT_TRUE(memory.barrier());
            }
            const auto after = memory.counters(nullptr).value();
            if (rank.rank() == 1) {
                EXPECT_GE(after.updates - before.updates, 20u);
                EXPECT_LE(after.update_bytes - before.update_bytes, 20 * 20u);
            }
        },
        SharedProtocol::update);
}

// Writers that are not the home, several of a page, with neighbouring bytes; one that is the only one; and the home.
TEST_P(SharedUpdatesTest, EveryHolderGetsTheBytesOfAllWriters) {
    const Watchdog watchdog("updates of several writers");
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 12;
        auto* const bytes = allocate<std::uint8_t>(memory, pages * 4096, Placement::cyclic);
        const auto me = static_cast<std::size_t>(rank.rank());
        std::vector<std::uint8_t> expected(pages * 8);
        for (unsigned round = 1; round <= 60; ++round) {
            for (std::size_t page = 0; page < pages; ++page) {
                const unsigned writers = (round / 4 + page) % 8; // a bit for each rank
                for (std::size_t writer = 0; writer < 3; ++writer) {
                    if ((writers >> writer & 1) == 0) continue;
                    expected[page * 8 + writer] = static_cast<std::uint8_t>(round);
                    if (writer == me) bytes[page * 4096 + writer] = static_cast<std::uint8_t>(round);
                }
            }
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = me; page < pages; page += round % 3 == 0 ? 1 : 2)
                for (std::size_t byte = 0; byte < 3; ++byte)
                    ASSERT_EQ(bytes[page * 4096 + byte], expected[page * 8 + byte])
                        << "round " << round << " page " << page << " byte " << byte;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// A page that is read once and then written for long is not sent for ever, and its home need not track it.
TEST_P(SharedUpdatesTest, CopiesThatNobodyReadsAreDropped) {
    const Watchdog watchdog("copies that nobody reads");
    run(2, [](Rank& rank, SharedMemory& memory) {
        auto* const array = allocate<std::uint32_t>(memory, 2 * words);
        if (rank.rank() == 1) {
            ASSERT_EQ(array[3], 0u);
        }
        ASSERT_TRUE(memory.barrier());
        kumiki_shared_counters middle{};
        for (std::uint32_t round = 1; round <= 40; ++round) {
            if (rank.rank() == 0) array[3] = round;
            ASSERT_TRUE(memory.barrier());
            if (round == 20) middle = memory.counters(nullptr).value();
        }
        const auto last = memory.counters(nullptr).value();
        EXPECT_EQ(last.updates, middle.updates);
        EXPECT_EQ(last.faults, middle.faults);
        EXPECT_EQ(last.notices, middle.notices);
        if (rank.rank() == 1) {
            EXPECT_EQ(last.invalidations, 1u);
            EXPECT_LE(last.updates, 8u);
            ASSERT_EQ(array[3], 40u);
        }
        ASSERT_TRUE(memory.barrier());
        if (rank.rank() == 0) array[3] = 41;
        ASSERT_TRUE(memory.barrier());
        ASSERT_EQ(array[3], 41u);
        ASSERT_TRUE(memory.barrier());
    });
}

TEST_P(SharedUpdatesTest, TheProtocolChangesWhileTheProgramRuns) {
    const Watchdog watchdog("protocols that change");
    run(2, [](Rank& rank, SharedMemory& memory) {
        auto* const array = allocate<std::uint32_t>(memory, 8 * words, Placement::first);
        for (std::uint32_t phase = 1; phase <= 6; ++phase) {
            const bool update = phase % 2 == 0;
            ASSERT_TRUE(memory.set_protocol(const_cast<std::uint32_t*>(array),
                                            update ? SharedProtocol::update : SharedProtocol::invalidate));
            kumiki_shared_counters before{};
            for (std::uint32_t round = 1; round <= 6; ++round) {
                if (round == 3) before = memory.counters(nullptr).value();
                const auto writer = static_cast<int>(phase / 3 % 2);
                for (std::size_t page = 0; page < 8 && rank.rank() == writer; ++page)
                    array[page * words] = 100 * phase + round;
                ASSERT_TRUE(memory.barrier());
                for (std::size_t page = 0; page < 8; ++page) ASSERT_EQ(array[page * words], 100 * phase + round);
                ASSERT_TRUE(memory.barrier());
            }
            const auto after = memory.counters(nullptr).value();
            if (update) {
                EXPECT_EQ(after.fetches, before.fetches) << "phase " << phase;
            } else {
                EXPECT_EQ(after.updates, before.updates) << "phase " << phase;
            }
        }
    });
}

// Locks drop copies of which the home still knows; barriers bring back to date what is left.
TEST_P(SharedUpdatesTest, LocksAndBarriersTakeTurns) {
    const Watchdog watchdog("updates and locks");
    run(3, [](Rank& rank, SharedMemory& memory) {
        auto* const array = allocate<std::uint32_t>(memory, 9 * words, Placement::cyclic);
        Locks& locks = **memory.locks("test");
        for (std::uint32_t round = 1; round <= 25; ++round) {
            for (std::size_t page = 0; page < 9; page += 1 + round % 2) {
                const int lock = static_cast<int>(page);
                ASSERT_TRUE(locks.acquire(lock));
                array[page * words + 1] = array[page * words + 1] + 1;
                ASSERT_TRUE(locks.release(lock));
            }
            array[round % 9 * words + 100 + static_cast<std::size_t>(rank.rank())] = round;
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = 0; page < 9; ++page) // every second round leaves out every second page
                ASSERT_EQ(array[page * words + 1], 3 * (page % 2 == 0 ? round : round / 2)) << "round " << round;
            for (std::size_t other = 0; other < 3; ++other)
                ASSERT_EQ(array[round % 9 * words + 100 + other], round) << "of rank " << other;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Rank 2 changes a byte under a lock, and then the home gives it the value that all copies had at the last barrier:
// what has changed at the home since says nothing of this byte, but the copy of rank 2 is out of date.
TEST_P(SharedUpdatesTest, AByteThatGetsItsOldValueBackAtTheHomeIsNotLost) {
    const Watchdog watchdog("old values");
    run(3, [](Rank& rank, SharedMemory& memory) {
        auto* const page = allocate<std::uint32_t>(memory, 3 * words); // the first page, whose home is rank 0
        Locks& locks = **memory.locks("test");
        constexpr int lock = 1;
        for (std::uint32_t round = 1; round <= 6; ++round) {
            ASSERT_EQ(page[3], 0u);
            if (rank.rank() == 0) page[100] = round; // a barrier sends it, and the next one only what has changed
            ASSERT_TRUE(memory.barrier());
            ASSERT_EQ(page[100], round);
            ASSERT_TRUE(memory.barrier());
            if (rank.rank() == 2) {
                ASSERT_TRUE(locks.acquire(lock));
                page[3] = 5;
                ASSERT_TRUE(locks.release(lock));
            }
            for (bool done = rank.rank() != 0; !done;) {
                ASSERT_TRUE(locks.acquire(lock));
                done = page[3] == 5;
                if (done) page[3] = 0;
                ASSERT_TRUE(locks.release(lock));
            }
            ASSERT_TRUE(memory.barrier());
            ASSERT_EQ(page[3], 0u) << "round " << round;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Rank 0, the home of a page, leaves a barrier late, because it has many copies to drop. Rank 2 has left it and fetches
// the page; then rank 1 changes the page and brings the change home, before rank 0 sends the contents of that barrier.
// They are for rank 3 only: what rank 2 lacks must be in what it gets at the next one.
TEST_P(SharedUpdatesTest, AChangeThatComesBeforeItsHomeHasLeftTheBarrierIsNotLost) {
    const Watchdog watchdog("changes before the home leaves");
    tests::run_with_copies(
        GetParam(), {.ranks = 4, .hosts = 4},
        [](Rank& rank, SharedMemory& memory) {
            constexpr std::size_t rounds = 4, copies = 2000; // so many calls of the system
            auto* const pages = allocate<std::uint32_t>(memory, 4 * rounds * words);
            auto* const many = allocate<std::uint32_t>(memory, 4 * copies * words);
            ASSERT_TRUE(memory.set_protocol(const_cast<std::uint32_t*>(many), SharedProtocol::invalidate));
            volatile auto* const of_rank_1 = many + copies * words;
            for (std::uint32_t round = 0; round < rounds; ++round) {
                volatile auto* const page = pages + round * words;
                if (rank.rank() == 0) {
                    for (std::size_t copy = 0; copy < copies; copy += 2) ASSERT_EQ(of_rank_1[copy * words], round);
                }
                if (rank.rank() == 3) {
                    ASSERT_EQ(page[0], 0u); // the home will announce it
                }
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 1)
                    for (std::size_t copy = 0; copy < copies; copy += 2) of_rank_1[copy * words] = round + 1;
                if (rank.rank() == 0) page[0] = 1;
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 2) {
                    ASSERT_EQ(page[0], 1u);
                }
                if (rank.rank() == 1) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    page[10] = 1;
                }
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() >= 2) {
                    ASSERT_EQ(page[10], 1u) << "rank " << rank.rank() << ", round " << round;
                }
                ASSERT_TRUE(memory.barrier());
            }
        },
        SharedProtocol::update);
}

// Messages that fit no array, or no page of it, are dropped, and the job goes on.
TEST_P(SharedUpdatesTest, MessagesThatDoNotFitAreDropped) {
    const Watchdog watchdog("updates that do not fit");
    tests::run_with_copies(
        GetParam(), {.ranks = 2, .hosts = 2},
        [](Rank& rank, SharedMemory& memory) {
            auto* const array = allocate<std::uint32_t>(memory, 4 * words);
            constexpr std::uint8_t update = 7, dropped = 8; // Courier::Kind
            if (rank.rank() == 1) {
                const auto send = [&](std::uint8_t kind, std::uint64_t number,
                                      const std::vector<std::uint64_t>& payload) {
                    fabric::MessageHeader made = rank.fabric.network()->header(fabric::SinkId::pages);
                    made.operation = kind;
                    made.value = number;
                    made.ticket = ~std::uint64_t{0};
                    ASSERT_TRUE(rank.fabric.network()->send(0, made, std::as_bytes(std::span(payload))));
                };
                send(update, 0, {1});                    // half an entry
                send(update, 0, {4, 8, 0});              // no such page
                send(update, 0, {0, 1 << 20, 0});        // longer than the message
                send(update, 0, {0, 16, 0xffff, 0});     // no such line
                send(update, 5, {0, 0});                 // no such array
                send(update, ~std::uint64_t{0}, {0, 0}); // nor this one
                send(update, 0, {0, 0});                 // of no barrier
                send(dropped, 0, {4});                   // no such page
                send(dropped, 9999, {0});
            }
            for (std::uint32_t round = 1; round <= 10; ++round) {
                for (std::size_t page = 0; page < 4; ++page)
                    if (page % 2 == static_cast<std::size_t>(rank.rank())) array[page * words] = round;
                ASSERT_TRUE(memory.barrier());
                for (std::size_t page = 0; page < 4; ++page) ASSERT_EQ(array[page * words], round);
                ASSERT_TRUE(memory.barrier());
            }
        },
        SharedProtocol::update);
}

TEST_P(SharedUpdatesTest, WrongArgumentsAreRefusedAtAllRanks) {
    const Watchdog watchdog("wrong protocols");
    tests::run_with_copies(GetParam(), {.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        auto* const array = tests::allocate_shared<int>(memory, 10);
        const auto outside = memory.set_protocol(&memory, SharedProtocol::update);
        ASSERT_FALSE(outside);
        EXPECT_NE(outside.error().message.find("in no shared array"), std::string::npos) << outside.error().message;
        const auto differs =
            memory.set_protocol(array, rank.rank() == 0 ? SharedProtocol::update : SharedProtocol::invalidate);
        ASSERT_FALSE(differs);
        EXPECT_NE(differs.error().message.find("different protocols"), std::string::npos) << differs.error().message;
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedUpdatesTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
