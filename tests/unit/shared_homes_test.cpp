#include <gtest/gtest.h>
#include <vector>

#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Homes that follow from touches, with ranks that are threads of one process, over copies per rank and over two hosts.
// The random programs of shared_memory_test.cpp and shared_lock_test.cpp use all homes, too.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

class SharedHomesTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(int ranks, Body body) {
        tests::run_with_copies(GetParam(), {.ranks = ranks}, body);
    }
};

/// An array of bytes with one page after another.
struct Paged {
    Paged(SharedMemory& memory, std::size_t pages, Placement placement)
        : memory_(memory), bytes_(tests::allocate_shared<std::uint8_t>(memory, pages * page, placement)) {}

    volatile std::uint8_t& operator()(std::size_t number, std::size_t byte = 0) { return bytes_[number * page + byte]; }
    int home(std::size_t number) { return memory_.home(bytes_ + number * page).value(); }
    std::uint8_t* data() { return bytes_; }
    kumiki_shared_counters counters() { return memory_.counters(bytes_).value(); }

    const std::size_t page = platform::page_size();

private:
    SharedMemory& memory_;
    std::uint8_t* bytes_;
};

TEST_P(SharedHomesTest, TheFirstToTouchBecomesTheHome) {
    const Watchdog watchdog("first touch");
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 60;
        Paged array(memory, pages, Placement::first);
        const auto toucher = [](std::size_t page) { return static_cast<int>(page * 5 % 4); }; // 3: nobody
        for (std::size_t page = 0; page < pages; ++page) EXPECT_EQ(array.home(page), KUMIKI_HOME_OPEN);
        for (std::size_t page = 0; page < pages; ++page)
            if (toucher(page) == rank.rank()) {
                if (page % 2 == 0) array(page, 7) = 1;
                else EXPECT_EQ(array(page, 7), 0); // a read is a touch, too
            }
        EXPECT_EQ(array.counters().faults, 0u);
        ASSERT_TRUE(memory.barrier());
        for (std::size_t page = 0; page < pages; ++page)
            ASSERT_EQ(array.home(page), toucher(page) == 3 ? KUMIKI_HOME_OPEN : toucher(page)) << "page " << page;
        // No message and no fault: each rank has its own pages, and may go on with them.
        for (std::size_t page = 0; page < pages; ++page)
            if (toucher(page) == rank.rank()) array(page, 8) = static_cast<std::uint8_t>(page);
        ASSERT_TRUE(memory.barrier());
        const auto counters = array.counters();
        EXPECT_EQ(counters.fetches + counters.differences + counters.home_requests, 0u);
        EXPECT_EQ(counters.invalidations, 0u);
        for (std::size_t page = 0; page < pages; ++page) {
            const bool touched = toucher(page) != 3;
            ASSERT_EQ(array(page, 7), touched && page % 2 == 0 ? 1 : 0) << "page " << page;
            ASSERT_EQ(array(page, 8), touched ? page : 0) << "page " << page;
        }
        ASSERT_TRUE(memory.barrier());
        for (std::size_t page = 0; page < pages; ++page) // all have read all: the lowest rank wins
            ASSERT_EQ(array.home(page), toucher(page) == 3 ? 0 : toucher(page));
    });
}

// Exactly one home, the same at all ranks, and no byte is lost (F77).
TEST_P(SharedHomesTest, AllTouchAtOnce) {
    const Watchdog watchdog("all touch at once");
    run(3, [](Rank& rank, SharedMemory& memory) {
        for (const Placement placement : {Placement::first, Placement::managed}) {
            constexpr std::size_t pages = 300;
            Paged array(memory, pages, placement);
            const auto own = static_cast<std::size_t>(rank.rank());
            for (std::size_t page = 0; page < pages; ++page)
                array(page, 5 + own) = static_cast<std::uint8_t>(page + own);
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = 0; page < pages; ++page) {
                for (std::size_t byte = 0; byte < 3; ++byte)
                    ASSERT_EQ(array(page, 5 + byte), static_cast<std::uint8_t>(page + byte)) << "page " << page;
                if (placement == Placement::first) {
                    ASSERT_EQ(array.home(page), 0);
                }
                int mine = array.home(page), most = 0;
                ASSERT_TRUE(rank.collectives.reduce(&mine, &most, 1, KUMIKI_INT32, KUMIKI_MAX,
                                                    collective::Collectives::every_rank));
                ASSERT_EQ(mine, most);
            }
            // Every first touch has asked the manager, and nothing asks it again (F78).
            EXPECT_EQ(array.counters().home_requests, placement == Placement::managed ? pages : 0);
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// What has been touched without a fault before the first lock is released with it, and fetched after it is acquired.
TEST_P(SharedHomesTest, ALockReleasesPagesThatHaveNoHomeYet) {
    const Watchdog watchdog("locks and open homes");
    run(3, [](Rank& rank, SharedMemory& memory) {
        for (const Placement placement : {Placement::first, Placement::relocated, Placement::managed}) {
            constexpr std::size_t pages = 9;
            Paged array(memory, pages, placement), flag(memory, 1, Placement::block);
            Locks& locks = **memory.locks("test");
            ASSERT_TRUE(memory.barrier());
            // Rank r adds to every page in turn r; all have touched the pages before.
            const std::size_t own = static_cast<std::size_t>(rank.rank());
            for (std::size_t page = 0; page < pages; ++page)
                if (page % 3 != own) array(page, 100 + own) = 1;
            for (bool done = false; !done;) {
                ASSERT_TRUE(locks.acquire(4));
                if (flag(0) == own) {
                    for (std::size_t page = 0; page < pages; ++page) {
                        ASSERT_EQ(array(page, 3), own) << "page " << page;
                        array(page, 3) = static_cast<std::uint8_t>(own + 1);
                    }
                    flag(0) = static_cast<std::uint8_t>(own + 1);
                    done = true;
                }
                ASSERT_TRUE(locks.release(4));
            }
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = 0; page < pages; ++page) {
                ASSERT_EQ(array(page, 3), 3);
                for (std::size_t other = 0; other < 3; ++other)
                    ASSERT_EQ(array(page, 100 + other), page % 3 != other ? 1 : 0);
                if (placement != Placement::managed) {
                    ASSERT_EQ(array.home(page), 0) << "page " << page;
                }
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

TEST_P(SharedHomesTest, TheNextTouchMovesThePageWithItsContents) {
    const Watchdog watchdog("next touch");
    run(3, [](Rank& rank, SharedMemory& memory) {
        for (const Placement placement :
             {Placement::block, Placement::cyclic, Placement::first, Placement::relocated}) {
            constexpr std::size_t pages = 30;
            Paged array(memory, pages, placement);
            if (rank.rank() == 1)
                for (std::size_t page = 0; page < pages; ++page) array(page, 9) = static_cast<std::uint8_t>(page + 1);
            ASSERT_TRUE(memory.barrier());
            for (int round = 0; round < 3; ++round) {
                const int home_of_9 = array.home(9);
                ASSERT_TRUE(memory.open_homes(array.data() + 10 * array.page + 5, 15)); // pages 10 to 24
                EXPECT_EQ(array.home(9), home_of_9);
                EXPECT_EQ(array.home(10), KUMIKI_HOME_OPEN);
                EXPECT_EQ(array.home(24), KUMIKI_HOME_OPEN);
                const auto toucher = [round](std::size_t page) {
                    return static_cast<int>(page + static_cast<std::size_t>(round)) % 3;
                };
                for (std::size_t page = 10; page < 25; ++page)
                    if (toucher(page) == rank.rank()) {
                        ASSERT_EQ(array(page, 9), page + 1);
                        array(page, 20 + static_cast<std::size_t>(round)) = 1;
                    }
                ASSERT_TRUE(memory.barrier());
                for (std::size_t page = 10; page < 25; ++page) ASSERT_EQ(array.home(page), toucher(page)) << page;
                for (std::size_t page = 0; page < pages; ++page) {
                    ASSERT_EQ(array(page, 9), page + 1) << "round " << round;
                    for (int past = 0; past <= round; ++past)
                        ASSERT_EQ(array(page, 20 + static_cast<std::size_t>(past)), page >= 10 && page < 25 ? 1 : 0);
                }
                ASSERT_TRUE(memory.barrier());
            }
        }
        Paged managed(memory, 3, Placement::managed);
        const auto refused = memory.open_homes(managed.data(), 1);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find("manager"), std::string::npos);
        const auto outside = memory.open_homes(managed.data(), 4);
        ASSERT_FALSE(outside);
        EXPECT_NE(outside.error().message.find("3 pages"), std::string::npos) << outside.error().message;
    });
}

// A pattern that changes in the middle of the run: the homes follow it, and then nothing is transferred any more (F83).
TEST_P(SharedHomesTest, APageFollowsTheRankThatAloneWritesToIt) {
    const Watchdog watchdog("relocation");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 20;
        Paged array(memory, pages, Placement::relocated);
        std::uint8_t value = 0;
        for (std::size_t shift = 0; shift < 3; ++shift) {
            kumiki_shared_counters before{};
            for (int step = 0; step < 6; ++step) {
                if (step == 3) before = array.counters();
                for (std::size_t page = 0; page < pages; ++page) {
                    if ((page / 2 + shift) % 2 == static_cast<std::size_t>(rank.rank()))
                        array(page, 3) = static_cast<std::uint8_t>(value + 1);
                    if (page % 5 == 0) array(page, 10 + static_cast<std::size_t>(rank.rank())) = value; // by both
                }
                ++value;
                ASSERT_TRUE(memory.barrier());
            }
            for (std::size_t page = 0; page < pages; ++page) {
                if (page % 5 != 0) {
                    ASSERT_EQ(array.home(page), static_cast<int>((page / 2 + shift) % 2)) << "page " << page;
                }
                ASSERT_EQ(array(page, 3), value);
            }
            EXPECT_LE(array.counters().differences - before.differences, 3 * pages / 5 + 3);
            ASSERT_TRUE(memory.barrier());
        }
        EXPECT_GT(array.counters().homes_moved, 0u);
    });
}

// With first touch, too, if rank 0 had to initialize them alone; pages that others might have touched first stay.
TEST_P(SharedHomesTest, APageThatOneRankHadToTouchFollowsAnother) {
    const Watchdog watchdog("pages that are initialized alone");
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 12, of_rank_0 = 6; // the others are touched in the next interval
        constexpr SharedMemory::Meeting after_rank_0{.ends_alone = true};
        Paged array(memory, pages, Placement::first);
        for (std::size_t page = 0; page < of_rank_0 && rank.rank() == 0; ++page) array(page) = 1;
        ASSERT_TRUE(memory.barrier(after_rank_0));
        for (std::size_t page = of_rank_0; page < pages && rank.rank() == 0; ++page) array(page) = 1;
        ASSERT_TRUE(memory.barrier());
        const auto writer = [](std::size_t page) { return static_cast<int>(page % 3); };
        for (std::uint8_t step = 0; step < 6; ++step) {
            for (std::size_t page = 0; page < pages; ++page)
                if (writer(page) == rank.rank()) array(page, 3) = step;
            ASSERT_TRUE(memory.barrier());
        }
        for (std::size_t page = 0; page < pages; ++page) {
            ASSERT_EQ(array.home(page), page < of_rank_0 ? writer(page) : 0) << "page " << page;
            ASSERT_EQ(array(page), 1);
            ASSERT_EQ(array(page, 3), 5);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedHomesTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
