// Random traffic through the C interface against a shadow copy.
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

struct Shape {
    int ranks, threads;
    std::size_t nontemporal_bytes; ///< small, so that some transfers are below it and some above
    bool as_processes;
};

/// Runs `body` on ranks that are threads or processes; each gets a job.
void run(const Shape& shape, const std::function<void(kumiki_job*)>& body) {
    const JobOptions options{.ranks = shape.ranks, .nontemporal_bytes = shape.nontemporal_bytes};
    if (!shape.as_processes) return run_jobs_as_threads(options, body);
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer cannot follow the threads of forked processes; it checks ranks that are threads";
#endif
    run_programs(options, [&](int) {
        kumiki_job* job = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK) << kumiki_error_message();
        body(job);
        ASSERT_EQ(kumiki_leave(job), KUMIKI_OK) << kumiki_error_message();
    });
}

class TrafficStress : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, TrafficStress,
                         testing::Values(Shape{1, 1, 1000, false}, Shape{2, 2, 1000, false}, Shape{3, 2, 100, false},
                                         Shape{4, 1, 0, false}, Shape{2, 2, 8 << 20, true}, Shape{3, 1, 1000, true}));

/// A thread's part of a region at every rank, and its expected contents.
class Shadow {
public:
    Shadow(kumiki_job* job, std::byte* own, std::size_t bytes, std::uint64_t seed)
        : job_(job),
          own_(own),
          bytes_(bytes),
          random_(seed),
          shadow_(static_cast<std::size_t>(kumiki_size(job)), std::vector<std::byte>(bytes)),
          buffer_(bytes) {}

    void transfer() {
        const int rank = random_.between(0, kumiki_size(job_) - 1);
        auto& there = shadow_[static_cast<std::size_t>(rank)];
        const auto [at, length] = place();
        const auto expected = there.begin() + static_cast<std::ptrdiff_t>(at);
        if (random_.once_in(2)) {
            random_.fill(std::span(buffer_).first(
                std::min<std::size_t>(length, 64))); // some of it is new, the rest is from before
            ASSERT_EQ(kumiki_put(job_, rank, own_ + at, buffer_.data(), length), KUMIKI_OK) << kumiki_error_message();
            std::copy_n(buffer_.begin(), length, expected);
        } else {
            ASSERT_EQ(kumiki_get(job_, rank, own_ + at, buffer_.data(), length), KUMIKI_OK) << kumiki_error_message();
            ASSERT_TRUE(std::equal(expected, expected + static_cast<std::ptrdiff_t>(length), buffer_.begin()))
                << length << " bytes at " << at << " of rank " << rank;
        }
    }

    /// The whole part at every rank, read in place if possible.
    void compare() {
        for (int rank = 0; rank < kumiki_size(job_); ++rank) {
            void* there = nullptr;
            ASSERT_EQ(kumiki_peer(job_, rank, own_, &there), KUMIKI_OK);
            if (there == nullptr) {
                ASSERT_EQ(kumiki_get(job_, rank, own_, buffer_.data(), bytes_), KUMIKI_OK);
                there = buffer_.data();
            }
            EXPECT_EQ(std::memcmp(there, shadow_[static_cast<std::size_t>(rank)].data(), bytes_), 0) << "rank " << rank;
        }
    }

private:
    /// Any place and length: unaligned, empty, one word, touching either edge, the whole part.
    std::pair<std::size_t, std::size_t> place() {
        const std::size_t most = random_.once_in(16) ? bytes_ : std::min<std::size_t>(bytes_, 300);
        const std::size_t length = random_.once_in(4) ? 8 : random_.between<std::size_t>(0, most);
        const std::size_t last = bytes_ - length;
        const int edge = random_.between(0, 9);
        return {edge == 0 ? 0 : edge == 1 ? last : random_.between<std::size_t>(0, last), length};
    }

    kumiki_job* job_;
    std::byte* own_;
    std::size_t bytes_;
    Random random_;
    std::vector<std::vector<std::byte>> shadow_;
    std::vector<std::byte> buffer_;
};

TEST_P(TrafficStress, PutAndGetMoveTheBytesAndNoOthers) {
    const Watchdog watchdog("put and get");
    const Shape shape = GetParam();
    run(shape, [&](kumiki_job* job) {
        // Every thread of every rank has its own part at every rank, all in one region and of odd length, so that
        // neighbouring parts act as guards.
        constexpr std::size_t part = 20011;
        const auto parts = static_cast<std::size_t>(kumiki_size(job) * shape.threads);
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, parts * part, &region), KUMIKI_OK) << kumiki_error_message();
        std::vector<std::unique_ptr<Shadow>> shadows;
        std::vector<std::thread> threads;
        for (int thread = 0; thread < shape.threads; ++thread) {
            const auto number = static_cast<std::size_t>(kumiki_rank(job) * shape.threads + thread);
            shadows.push_back(
                std::make_unique<Shadow>(job, static_cast<std::byte*>(region) + number * part, part, number + 1));
            threads.emplace_back([&shadow = *shadows.back()] {
                for (std::size_t step = 0; step < rounds(40000) && !testing::Test::HasFatalFailure(); ++step)
                    shadow.transfer();
            });
        }
        for (auto& thread : threads) thread.join();
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        for (const auto& shadow : shadows) shadow->compare();
        ASSERT_EQ(kumiki_release(job, region), KUMIKI_OK);
    });
}

TEST_P(TrafficStress, AtomicsAreAtomic) {
    const Watchdog watchdog("atomics");
    const Shape shape = GetParam();
    run(shape, [&](kumiki_job* job) {
        struct Words {
            std::uint64_t added, locked, guarded, token;
        };
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, sizeof(Words), &region), KUMIKI_OK);
        auto* words = static_cast<Words*>(region);
        const std::size_t steps = rounds(4000);
        const auto threads_in_all = static_cast<std::uint64_t>(kumiki_size(job) * shape.threads);
        std::atomic<std::uint64_t> swapped_out{0};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < shape.threads; ++thread)
            threads.emplace_back([&, thread] {
                const std::uint64_t me = static_cast<std::uint64_t>(kumiki_rank(job) * shape.threads + thread + 1);
                std::uint64_t before = 0, last = 0;
                for (std::size_t step = 0; step < steps; ++step) {
                    const int rank = static_cast<int>(step) % kumiki_size(job);
                    ASSERT_EQ(kumiki_fetch_add(job, rank, &words->added, me, rank == 0 ? &before : nullptr), KUMIKI_OK);
                    ASSERT_TRUE(rank != 0 || step == 0 || before > last) << "a counter that only grows";
                    last = before;
                    // A lock by compare-and-swap at rank 0 protects a plain word, which is read by get and written by
                    // put.
                    do {
                        ASSERT_EQ(kumiki_compare_swap(job, 0, &words->locked, 0, me, &before), KUMIKI_OK);
                        if (before != 0) std::this_thread::yield();
                    } while (before != 0);
                    std::uint64_t value = 0;
                    ASSERT_EQ(kumiki_get(job, 0, &words->guarded, &value, sizeof(value)), KUMIKI_OK);
                    ++value;
                    ASSERT_EQ(kumiki_put(job, 0, &words->guarded, &value, sizeof(value)), KUMIKI_OK);
                    ASSERT_EQ(kumiki_compare_swap(job, 0, &words->locked, me, 0, &before), KUMIKI_OK);
                    ASSERT_EQ(before, me);
                    before = last;
                    // Every value that is swapped into a word comes out again exactly once.
                    std::uint64_t out = 0;
                    ASSERT_EQ(kumiki_swap(job, rank, &words->token, me, &out), KUMIKI_OK);
                    swapped_out += out;
                }
            });
        for (auto& thread : threads) thread.join();
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        std::uint64_t sums[3] = {0, words->token, swapped_out.load()};
        ASSERT_EQ(kumiki_fetch_add(job, kumiki_rank(job), &words->added, 0, &sums[0]), KUMIKI_OK);
        ASSERT_EQ(kumiki_all_reduce(job, sums, sums, 3, KUMIKI_UINT64, KUMIKI_SUM), KUMIKI_OK);
        const std::uint64_t put_in = steps * threads_in_all * (threads_in_all + 1) / 2;
        EXPECT_EQ(sums[0], put_in);
        EXPECT_EQ(sums[1] + sums[2], put_in);
        EXPECT_EQ(words->guarded, kumiki_rank(job) == 0 ? steps * threads_in_all : 0);
    });
}

class PutSignalStress : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, PutSignalStress,
                         testing::Values(Shape{2, 1, 8 << 20, false}, Shape{2, 1, 64, false}, Shape{2, 1, 256, true}));

// A rank that sees the signal sees the data: short and long, by plain stores and by those that bypass the caches.
TEST_P(PutSignalStress, TheDataAreThereWhenTheSignalIsSeen) {
    const Watchdog watchdog("put with signal");
    const Shape shape = GetParam();
    const std::size_t transfers = rounds(shape.nontemporal_bytes > 256 ? 100000 : 20000);
    run(shape, [transfers](kumiki_job* job) {
        struct Line {
            std::uint64_t signal;
            std::uint64_t data[511];
        };
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, sizeof(Line), &region), KUMIKI_OK);
        auto* line = static_cast<Line*>(region);
        const int other = 1 - kumiki_rank(job);
        Random random(11); // the same at both ranks
        std::vector<std::uint64_t> values(511);
        for (std::uint64_t round = 1; round <= transfers; ++round) {
            const std::size_t count =
                random.once_in(8) ? random.between<std::size_t>(0, 511) : random.between<std::size_t>(0, 40);
            const std::size_t at = random.between<std::size_t>(0, 511 - count);
            if (kumiki_rank(job) == static_cast<int>(round % 2)) {
                std::fill_n(values.begin(), count, round);
                const bool add = random.word() % 2 == 0;
                ASSERT_EQ(kumiki_put_signal(job, other, line->data + at, values.data(), 8 * count, &line->signal,
                                            add ? KUMIKI_SIGNAL_ADD : KUMIKI_SIGNAL_SET,
                                            add ? (round > 2 ? 2 : round) : round),
                          KUMIKI_OK);
            } else {
                random.word(); // in step with the sender
                std::uint64_t seen = 0;
                ASSERT_EQ(kumiki_signal_wait(job, &line->signal, KUMIKI_AT_LEAST, round, &seen), KUMIKI_OK);
                ASSERT_EQ(seen, round);
                for (std::size_t i = at; i < at + count; ++i)
                    ASSERT_EQ(line->data[i], round) << "word " << i << " of " << count << " at " << at;
            }
        }
    });
}

TEST(SignalTest, EveryComparisonWaitsForWhatItSays) {
    const Watchdog watchdog("comparisons");
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 8, &region), KUMIKI_OK);
        auto* signal = static_cast<std::uint64_t*>(region);
        const struct {
            kumiki_comparison comparison;
            std::uint64_t value, before, after;
        } cases[] = {
            {KUMIKI_EQUAL, 5, 4, 5}, {KUMIKI_NOT_EQUAL, 5, 5, 6}, {KUMIKI_AT_LEAST, 5, 4, 9}, {KUMIKI_LESS, 5, 5, 2}};
        for (const auto& one : cases) {
            ASSERT_EQ(kumiki_signal(job, kumiki_rank(job), signal, KUMIKI_SIGNAL_SET, one.before), KUMIKI_OK);
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            if (kumiki_rank(job) == 1) {
                std::this_thread::sleep_for(std::chrono::milliseconds(2)); // rank 0 is asleep by then
                ASSERT_EQ(kumiki_signal(job, 0, signal, KUMIKI_SIGNAL_SET, one.after), KUMIKI_OK);
            } else {
                std::uint64_t seen = 0;
                ASSERT_EQ(kumiki_signal_wait(job, signal, one.comparison, one.value, &seen), KUMIKI_OK);
                EXPECT_EQ(seen, one.after) << "comparison " << one.comparison;
                EXPECT_EQ(kumiki_signal_wait(job, signal, one.comparison, one.value, nullptr), KUMIKI_OK)
                    << "true at once";
            }
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        }
    });
}

// A program that computes and tests a signal repeatedly must eventually see it, also over hosts.
TEST(SignalTest, IsTestedWithoutAWait) {
    const Watchdog watchdog("test of a signal");
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 8, &region), KUMIKI_OK);
        auto* signal = static_cast<std::uint64_t*>(region);
        const auto test = [&](kumiki_comparison comparison, std::uint64_t value, std::uint64_t expected) {
            int satisfied = -1;
            std::uint64_t seen = 99;
            EXPECT_EQ(kumiki_signal_test(job, signal, comparison, value, &satisfied, &seen), KUMIKI_OK);
            EXPECT_EQ(seen, expected);
            return satisfied == 1;
        };
        EXPECT_TRUE(test(KUMIKI_EQUAL, 0, 0) && test(KUMIKI_NOT_EQUAL, 1, 0) && test(KUMIKI_AT_LEAST, 0, 0) &&
                    test(KUMIKI_LESS, 1, 0));
        EXPECT_FALSE(test(KUMIKI_EQUAL, 1, 0) || test(KUMIKI_NOT_EQUAL, 0, 0) || test(KUMIKI_AT_LEAST, 1, 0) ||
                     test(KUMIKI_LESS, 0, 0));
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        ASSERT_EQ(kumiki_signal(job, 1 - kumiki_rank(job), signal, KUMIKI_SIGNAL_SET, 7), KUMIKI_OK);
        int satisfied = 0;
        while (satisfied == 0)
            ASSERT_EQ(kumiki_signal_test(job, signal, KUMIKI_EQUAL, 7, &satisfied, nullptr), KUMIKI_OK);
    });
}

// Atomics are signals, too: they wake a rank that waits for the word. Rank 0 confirms each value that it has seen:
// on a busy machine a value that is changed after a mere pause may be gone before the waiting thread runs again.
TEST(SignalTest, AtomicsWakeWhoWaits) {
    const Watchdog watchdog("atomics wake");
    run_jobs_as_threads({.ranks = 2, .wait = WaitPolicy::sleep}, [](kumiki_job* job) {
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 2 * sizeof(std::uint64_t), &region), KUMIKI_OK);
        auto* word = static_cast<std::uint64_t*>(region);
        std::uint64_t* confirmed = word + 1; // at rank 1: the last value that rank 0 has seen
        if (kumiki_rank(job) == 0) {
            for (const std::uint64_t value : {1, 7, 9}) {
                ASSERT_EQ(kumiki_signal_wait(job, word, KUMIKI_EQUAL, value, nullptr), KUMIKI_OK);
                ASSERT_EQ(kumiki_signal(job, 1, confirmed, KUMIKI_SIGNAL_SET, value), KUMIKI_OK);
            }
            return;
        }
        std::uint64_t before = 99;
        const auto until_rank_0_has_seen = [&](std::uint64_t value) {
            ASSERT_EQ(kumiki_signal_wait(job, confirmed, KUMIKI_EQUAL, value, nullptr), KUMIKI_OK);
            std::this_thread::sleep_for(std::chrono::milliseconds(5)); // rank 0 sleeps again by then
        };
        until_rank_0_has_seen(0);
        ASSERT_EQ(kumiki_fetch_add(job, 0, word, 1, &before), KUMIKI_OK);
        EXPECT_EQ(before, 0u);
        until_rank_0_has_seen(1);
        ASSERT_EQ(kumiki_compare_swap(job, 0, word, 1, 7, &before), KUMIKI_OK);
        EXPECT_EQ(before, 1u);
        ASSERT_EQ(kumiki_compare_swap(job, 0, word, 1, 8, &before), KUMIKI_OK);
        EXPECT_EQ(before, 7u) << "not swapped";
        until_rank_0_has_seen(7);
        ASSERT_EQ(kumiki_swap(job, 0, word, 9, &before), KUMIKI_OK);
        EXPECT_EQ(before, 7u);
    });
}

} // namespace
} // namespace kumiki::tests
