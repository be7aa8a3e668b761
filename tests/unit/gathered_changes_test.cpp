#include <bit>
#include <cstdint>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Words that ranks change in their own copies, and at their homes when they release.
namespace kumiki::dsm {
namespace {

using tests::Random;
using tests::Rank;
using tests::Watchdog;
using Kind = WordChange::Kind;

constexpr std::uint64_t usual_rounding = 0x1f80;

TEST(GatheredChangesTest, TwoMayBeMadeAsOne) {
    Random random(5);
    for (int number = 0; number <= static_cast<int>(Kind::real_maximum); ++number)
        for (const auto bytes : {std::uint8_t{4}, std::uint8_t{8}})
            for (int round = 0; round < 200; ++round) {
                const auto kind = static_cast<Kind>(number);
                const bool is_real = kind >= Kind::real_add;
                const auto word = [&]() -> std::uint64_t {
                    if (!is_real) return random.word();
                    const int exact = random.between(0, 63); // in sums and products
                    return bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(exact))
                                      : std::bit_cast<std::uint64_t>(static_cast<double>(exact));
                };
                const std::uint64_t control = is_real ? usual_rounding : 0;
                const WordChange one{kind, bytes, word(), control}, other{kind, bytes, word(), control};
                const auto both = one.and_then(other);
                ASSERT_EQ(both.has_value(), one.combines()) << number;
                const std::uint64_t before = word(), mask = bytes == 4 ? 0xffff'ffff : ~std::uint64_t{0};
                if (both) {
                    ASSERT_EQ(both->after(before) & mask, other.after(one.after(before)) & mask) << number;
                }
            }
    const WordChange sum{Kind::add, 8, 1}, bits{Kind::bit_or, 8, 1}, short_sum{Kind::add, 4, 1};
    EXPECT_FALSE(sum.and_then(bits));
    EXPECT_FALSE(sum.and_then(short_sum));
    const WordChange up{Kind::real_add, 8, 0, 0x5f80}, down{Kind::real_add, 8, 0, 0x3f80};
    EXPECT_FALSE(up.and_then(down)) << "they round in another way";
}

/// Groups of words that the threads of all ranks change in a random order: each group has a sum, a number that threads
/// draw, bits, a real number, and a word that only one thread writes, in its usual way. So each page has all of them.
class Groups {
public:
    static constexpr std::size_t threads = 2, rounds = 250, groups = 700;

    Groups(Rank& rank, SharedMemory& memory, Placement placement)
        : rank_(rank),
          memory_(memory),
          begin_(tests::allocate_shared<Group>(memory, groups, placement)),
          locks_(**memory.locks("test")),
          own_(groups) {}

    void begin_with_one_rank() {
        for (std::size_t number = 0; number < groups && rank_.rank() == 0; ++number) begin_[number].sum = 1;
        EXPECT_TRUE(memory_.barrier());
        EXPECT_TRUE(memory_.open_homes(begin_, 0));
        before_ = groups;
    }

    void change_in_a_thread(std::size_t thread, unsigned phase) {
        Random random(1000 * phase + 10 * static_cast<unsigned>(rank_.rank()) + thread);
        for (std::size_t round = 0; round < rounds; ++round) {
            const std::size_t number = random.between(std::size_t{0}, groups - 1);
            Group& group = begin_[number];
            change(group.sum, {Kind::add, 8, 1});
            change(group.real, {Kind::real_subtract, 8, std::bit_cast<std::uint64_t>(0.5), usual_rounding});
            change(group.bits, {Kind::bit_or, 8, std::uint64_t{1} << rank_.rank()});
            if (is_own(number, thread)) const_cast<volatile std::uint64_t&>(group.own) = ++own_[number];
            if (random.once_in(16) && memory_.home_for_changes(begin_)) draw(random.once_in(3));
        }
    }

    /// Once all threads of all ranks have done that, in so many phases.
    void expect_all(unsigned phases) const {
        const std::uint64_t all = phases * threads * rounds * static_cast<std::uint64_t>(rank_.size());
        std::uint64_t sum = 0;
        double real = 0;
        for (std::size_t number = 0; number < groups; ++number) {
            const Group& group = begin_[number];
            sum += group.sum;
            real += group.real;
            ASSERT_LT(group.bits, std::uint64_t{1} << rank_.size());
            for (std::size_t thread = 0; thread < threads; ++thread)
                if (is_own(number, thread)) {
                    ASSERT_EQ(group.own, own_[number]) << number;
                }
        }
        EXPECT_EQ(sum, before_ + all);
        EXPECT_EQ(real, -0.5 * static_cast<double>(all));
        EXPECT_EQ(begin_[0].drawn, begin_[1].drawn) << "changes whose results are used, and as many others";
        EXPECT_EQ(begin_[0].drawn, begin_[2].drawn) << "and as many under a lock";
    }

private:
    struct Group {
        std::uint64_t sum, drawn, bits;
        double real;
        std::uint64_t own;
    };

    bool is_own(std::size_t number, std::size_t thread) const {
        const auto ranks = static_cast<std::size_t>(rank_.size());
        return number % (ranks * threads) == static_cast<std::size_t>(rank_.rank()) * threads + thread;
    }

    /// With a small cache, other threads may evict the page again and again.
    template <class Word>
    void change(Word& word, const WordChange& wanted) {
        if (memory_.gather_change(&word, wanted)) return;
        EXPECT_TRUE(memory_.change_word(locks_, change_locks, &word, wanted));
    }

    void draw(bool under_lock) {
        EXPECT_TRUE(memory_.change_word(locks_, change_locks, &begin_[0].drawn, {Kind::add, 8, 1}));
        change(begin_[1].drawn, {Kind::add, 8, 1});
        const int lock = 2 * rank_.size();
        if (under_lock) {
            EXPECT_TRUE(locks_.acquire(lock));
        }
        change(begin_[2].drawn, {Kind::add, 8, 1});
        if (under_lock) {
            EXPECT_TRUE(locks_.release(lock));
        }
    }

    static constexpr ChangeLock change_locks{0, true};
    Rank& rank_;
    SharedMemory& memory_;
    Group* begin_;
    Locks& locks_;
    std::uint64_t before_ = 0;
    std::vector<std::uint64_t> own_; ///< by group: what its thread has written last
};

class SharedGatherTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(int ranks, Body body, std::uint64_t cached_pages = 0) {
        tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = ranks}, body, SharedProtocol::invalidate,
                               cached_pages * platform::page_size());
    }
};

TEST_P(SharedGatherTest, NoChangeIsLost) {
    const Watchdog watchdog("gathered changes");
    Placement placement = Placement::cyclic;
    const auto body = [&](Rank& rank, SharedMemory& memory) {
        Groups groups(rank, memory, placement);
        if (placement == Placement::first) groups.begin_with_one_rank();
        ASSERT_TRUE(memory.barrier());
        for (unsigned phase = 0; phase < 3; ++phase) {
            std::vector<std::thread> team;
            for (std::size_t thread = 0; thread < Groups::threads; ++thread)
                team.emplace_back([&groups, thread, phase] { groups.change_in_a_thread(thread, phase); });
            for (auto& each : team) each.join();
            ASSERT_TRUE(memory.barrier());
            groups.expect_all(phase + 1);
            ASSERT_TRUE(memory.barrier());
        }
    };
    for (const int ranks : {2, 3}) run(ranks, body);
    run(2, body, 3); // pages, which are evicted
    placement = Placement::first;
    for (const int ranks : {2, 3}) run(ranks, body);
}

TEST_P(SharedGatherTest, AreSeenWhereTheyWereMade) {
    const Watchdog watchdog("gathered changes and what is written besides");
    run(2, [](Rank& rank, SharedMemory& memory) {
        auto* const words = tests::allocate_shared<std::uint64_t>(memory, 2048, Placement::block); // two homes
        auto* const open = tests::allocate_shared<std::uint64_t>(memory, 1, Placement::first);
        ASSERT_TRUE(memory.barrier());
        const auto add = [&](std::uint64_t& word) { return memory.gather_change(&word, {Kind::add, 8, 1}); };
        EXPECT_FALSE(add(*open)) << "of an array that nobody has touched";
        EXPECT_FALSE(memory.gather_change(words, {Kind::exchange, 8, 1})) << "whose order matters";
        for (std::uint64_t* const word : {&words[0], &words[2047]}) {
            const auto number = static_cast<std::uint64_t>(rank.rank());
            volatile std::uint64_t& neighbour = word[word == words ? 1 + number : -1 - static_cast<int>(number)];
            for (std::uint64_t round = 0; round < 5; ++round) {
                const auto before = add(*word);
                ASSERT_TRUE(before);
                EXPECT_GE(*before, round);
                EXPECT_GT(const_cast<volatile std::uint64_t&>(*word), *before);
                neighbour = round;
            }
        }
        ASSERT_TRUE(memory.barrier());
        EXPECT_EQ(words[0], 10u);
        EXPECT_EQ(words[2047], 10u);
        EXPECT_EQ(words[1] + words[2] + words[2046] + words[2045], 16u);
        ASSERT_TRUE(memory.barrier());
        // What the program then writes to such a word holds, and is what later changes begin with.
        if (rank.rank() == 1) {
            EXPECT_TRUE(add(words[0]));
            const_cast<volatile std::uint64_t&>(words[0]) = 100;
            EXPECT_EQ(add(words[0]), 100u);
        }
        ASSERT_TRUE(memory.barrier());
        EXPECT_EQ(words[0], 101u);
        ASSERT_TRUE(memory.barrier());
    });
}

// A sum depends on the order of its parts. The rank that has gathered them keeps its copy, and all must have one
// number.
TEST_P(SharedGatherTest, AllHaveTheSameSums) {
    const Watchdog watchdog("sums of gathered numbers");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t many = 1000;
        auto* const sums = tests::allocate_shared<double>(memory, many, Placement::block);
        auto* const seen = tests::allocate_shared<std::uint64_t>(memory, 2 * many, Placement::block);
        ASSERT_TRUE(memory.barrier());
        if (rank.rank() == 0)
            for (std::size_t i = 0; i < many; ++i) sums[i] = 1.0 / static_cast<double>(i + 3);
        ASSERT_TRUE(memory.barrier());
        Random random(7);
        for (std::size_t i = 0; i < many && rank.rank() == 1; ++i)
            for (int part = 0; part < 10; ++part) {
                const double number = random.between(1, 1000) / 7.0;
                ASSERT_TRUE(memory.gather_change(
                    &sums[i], {Kind::real_add, 8, std::bit_cast<std::uint64_t>(number), usual_rounding}));
            }
        ASSERT_TRUE(memory.barrier());
        for (std::size_t i = 0; i < many; ++i)
            seen[static_cast<std::size_t>(rank.rank()) * many + i] = std::bit_cast<std::uint64_t>(sums[i]);
        ASSERT_TRUE(memory.barrier());
        for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(seen[i], seen[many + i]) << i;
        ASSERT_TRUE(memory.barrier());
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedGatherTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
