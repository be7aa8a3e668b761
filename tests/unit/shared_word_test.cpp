#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Words of shared arrays that are changed at their home, for ranks of other hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;
using Kind = WordChange::Kind;

TEST(WordChangeTest, DoesWhatProcessorsDo) {
    struct Case {
        Kind kind;
        std::uint64_t before, operand, expected, after;
    };
    for (const auto& [kind, before, operand, expected, after] : {
             Case{Kind::add, 0xffff'fffe, 3, 0, 0x1'0000'0001},
             Case{Kind::bit_and, 0b1100, 0b1010, 0, 0b1000},
             Case{Kind::bit_or, 0b1100, 0b1010, 0, 0b1110},
             Case{Kind::bit_xor, 0b1100, 0b1010, 0, 0b0110},
             Case{Kind::exchange, 5, 7, 0, 7},
             Case{Kind::compare_exchange, 5, 7, 5, 7},
             Case{Kind::compare_exchange, 5, 7, 6, 5},
         }) {
        std::uint64_t word = before;
        const WordChange change{kind, 8, operand, expected};
        EXPECT_EQ(change.make(reinterpret_cast<std::byte*>(&word)), before);
        EXPECT_EQ(word, after);
        std::uint32_t words[] = {static_cast<std::uint32_t>(before), 0x5a5a'5a5a};
        EXPECT_EQ((WordChange{kind, 4, operand, expected}.make(reinterpret_cast<std::byte*>(words))),
                  static_cast<std::uint32_t>(before));
        EXPECT_EQ(words[0], static_cast<std::uint32_t>(after));
        EXPECT_EQ(words[1], 0x5a5a'5a5a) << "its neighbour";
    }
}

class SharedWordTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(Body body) {
        for (const auto& [ranks, hosts] : {std::pair{2, 2}, {3, 2}, {3, 3}})
            tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = hosts}, body);
    }
};

/// Words of which each rank is the home of one, and lock `r` is managed by rank r.
struct Words {
    Words(Rank& rank, SharedMemory& shared)
        : memory(shared),
          apart(platform::page_size() / sizeof(std::uint64_t)),
          begin(tests::allocate_shared<std::uint64_t>(memory, apart * static_cast<std::size_t>(rank.size()))),
          locks(**memory.locks("test")) {}

    volatile std::uint64_t& of(int home) const { return begin[apart * static_cast<std::size_t>(home)]; }
    std::optional<std::uint64_t> change(int home, const WordChange& change) const {
        return memory.change_word(locks, {0, true}, const_cast<const std::uint64_t*>(&of(home)), change);
    }
    std::uint64_t add_under_lock(int home, std::uint64_t value) const {
        EXPECT_TRUE(locks.acquire(home));
        const std::uint64_t before = of(home);
        of(home) = before + value;
        EXPECT_TRUE(locks.release(home));
        return before;
    }
    /// Returns the value before.
    std::uint64_t add(int home, std::uint64_t value) const {
        const auto before = change(home, {Kind::add, 8, value});
        return before ? *before : add_under_lock(home, value);
    }

    SharedMemory& memory;
    std::size_t apart;
    std::uint64_t* begin;
    Locks& locks;
};

TEST_P(SharedWordTest, AreChangedAtTheirHome) {
    const Watchdog watchdog("words and their homes");
    run([](Rank& rank, SharedMemory& memory) {
        if (rank.fabric.everybody().hosts() < rank.size()) return; // ranks that share a host refuse
        const Words words(rank, memory);
        auto* const open = tests::allocate_shared<std::uint64_t>(memory, 1, Placement::first);
        ASSERT_TRUE(memory.barrier());
        for (int home = 0; home < rank.size(); ++home) {
            const auto before = words.change(home, {Kind::bit_or, 8, std::uint64_t{1} << rank.rank()});
            ASSERT_TRUE(before);
            EXPECT_NE(words.of(home) >> rank.rank() & 1, 0u) << "its own change is seen at once";
        }
        const WordChange any{Kind::add, 8, 1};
        const int other = rank.rank() == 0 ? 1 : 0;
        EXPECT_FALSE(memory.change_word(words.locks, {1}, words.begin, any)) << "whose lock another rank manages";
        EXPECT_FALSE(memory.change_word(words.locks, {other}, open, any)) << "whose home no touch has decided";
        ASSERT_TRUE(memory.barrier());
        const std::uint64_t all = (std::uint64_t{1} << rank.size()) - 1;
        for (int home = 0; home < rank.size(); ++home) EXPECT_EQ(words.of(home), all);
        ASSERT_TRUE(memory.barrier());
        // All have copies now, and a rank that uses no lock sees the next change after a barrier.
        if (rank.rank() == 1) {
            EXPECT_TRUE(words.change(0, {Kind::exchange, 8, 77}));
        }
        ASSERT_TRUE(memory.barrier());
        EXPECT_EQ(words.of(0), 77u);
        ASSERT_TRUE(memory.barrier());
    });
}

// All threads draw numbers, at the homes and under the locks, and nobody draws one twice.
TEST_P(SharedWordTest, NoChangeIsLost) {
    const Watchdog watchdog("changes of words");
    run([](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t threads = 2, rounds = 60;
        const auto ranks = static_cast<std::size_t>(rank.size());
        const std::size_t numbers = threads * rounds * ranks;
        const Words words(rank, memory);
        auto* const drawn = tests::allocate_shared<std::uint32_t>(memory, numbers * ranks);
        ASSERT_TRUE(memory.barrier());
        std::vector<std::thread> team;
        for (std::size_t thread = 0; thread < threads; ++thread)
            team.emplace_back([&, thread] {
                tests::Random random(100 * thread + static_cast<std::uint64_t>(rank.rank()));
                for (std::size_t round = 0; round < rounds; ++round) {
                    const auto home = static_cast<int>((round + thread) % ranks);
                    const std::uint64_t number = random.once_in(4) ? words.add_under_lock(home, 1) : words.add(home, 1);
                    if (number < numbers) drawn[numbers * static_cast<std::size_t>(home) + number] += 1;
                }
            });
        for (auto& each : team) each.join();
        ASSERT_TRUE(memory.barrier());
        for (std::size_t home = 0; home < ranks; ++home) {
            const std::uint64_t count = words.of(static_cast<int>(home));
            for (std::size_t number = 0; number < count; ++number) ASSERT_EQ(drawn[numbers * home + number], 1u);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

// In each round a rank writes to a page of which others have copies, and passes the turn on by a word of any home.
TEST_P(SharedWordTest, WhatWasWrittenBeforeAChangeIsSeenBehindIt) {
    const Watchdog watchdog("what comes before a change");
    run([](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t rounds = 150, places = 700; // some of them in the next page
        const auto ranks = static_cast<std::size_t>(rank.size());
        const Words words(rank, memory);
        auto* const data = tests::allocate_shared<std::uint64_t>(memory, places, Placement::cyclic);
        ASSERT_TRUE(memory.barrier());
        std::mt19937 engine(11); // the same at every rank
        std::vector<std::uint64_t> passed(ranks), expected(places);
        std::size_t home = 0; // of the word that told the last turn
        for (std::size_t round = 1; round <= rounds; ++round) {
            const std::size_t writer = engine() % ranks, next_home = engine() % ranks, place = engine() % places;
            if (writer == static_cast<std::size_t>(rank.rank())) {
                while (words.add(static_cast<int>(home), 0) < passed[home]) std::this_thread::yield();
                ASSERT_GE(words.of(static_cast<int>(home)), passed[home]);
                for (std::size_t each = 0; each < places; ++each)
                    ASSERT_EQ(data[each], expected[each]) << "round " << round << " place " << each;
                data[place] = round;
                words.add(static_cast<int>(next_home), 1);
            }
            expected[place] = round;
            home = next_home;
            ++passed[home];
        }
        ASSERT_TRUE(memory.barrier());
        for (std::size_t each = 0; each < places; ++each) ASSERT_EQ(data[each], expected[each]);
        ASSERT_TRUE(memory.barrier());
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedWordTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
