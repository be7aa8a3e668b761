// The C++ interface: which calls it accepts, which exceptions it throws, and whole programs of several ranks.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>

#include "kumiki/kumiki.hpp"
#include "support/jobs.hpp"

namespace kumiki {
namespace {

using tests::Processes;
using tests::run_programs;
using tests::start_programs;

// -- what must compile and what must not --

struct Plain {
    int a;
    double b[3];
};
struct NotPlain {
    NotPlain(const NotPlain&) {}
};
static_assert(Transferable<int> && Transferable<Plain> && Transferable<std::array<Plain, 4>>);
static_assert(!Transferable<std::string> && !Transferable<std::vector<int>> && !Transferable<NotPlain> &&
              !Transferable<std::unique_ptr<int>>);
static_assert(Reducible<int> && Reducible<long> && Reducible<unsigned> && Reducible<std::uint64_t> &&
              Reducible<float> && Reducible<double>);
static_assert(!Reducible<short> && !Reducible<bool> && !Reducible<char> && !Reducible<long double> &&
              !Reducible<Plain> && !Reducible<const double>);
static_assert(detail::type_of<long>() == KUMIKI_INT64 && detail::type_of<unsigned>() == KUMIKI_UINT32 &&
              detail::type_of<float>() == KUMIKI_FLOAT);

template <class T>
concept CanAllocate = requires(Job job) { job.allocate<T>(1); };
template <class T>
concept CanPut = requires(Job job, T& there, const T& value) { job.put(0, there, value); };
template <class T>
concept CanReduce = requires(Job job, std::span<T> data) { job.all_reduce(data, Operation::sum); };
template <class T>
concept CanBroadcast = requires(Job job, T& value) { job.broadcast(value, 0); };
static_assert(CanAllocate<Plain> && CanPut<Plain> && CanReduce<double> && CanBroadcast<Plain>);
template <class T>
concept CanGatherValues = requires(Job job, const T& value) {
    job.all_gather(value);
    job.gather(value, 0);
};
static_assert(CanGatherValues<char> && CanGatherValues<Plain> && !CanGatherValues<bool>, "a vector packs bool");
static_assert(!CanAllocate<std::string> && !CanPut<std::string> && !CanReduce<Plain> && !CanBroadcast<int*> &&
              !CanBroadcast<std::vector<std::string>>);
static_assert(!std::is_copy_constructible_v<Job> && !std::is_copy_constructible_v<Team> &&
              !std::is_copy_constructible_v<Region<int>>);
static_assert(std::is_nothrow_move_constructible_v<Region<int>> && std::is_nothrow_move_assignable_v<Region<int>>);

// -- one rank --

TEST(FaceTest, AJobWithoutALauncherIsOneRank) {
    Job job;
    EXPECT_EQ(job.rank(), 0);
    EXPECT_EQ(job.size(), 1);
    EXPECT_GE(job.threads(), 1);
    job.barrier();
    EXPECT_EQ(job.all_reduce(5, Operation::sum), 5);
}

TEST(FaceTest, TheNumberOfThreadsIsTheSameBesideATeam) {
    Job job;
    const int threads = job.threads();
    const Team team(job); // its creator is thread 0, which is bound to one processor
    EXPECT_EQ(job.threads(), threads);
    EXPECT_EQ(job.threads(0), threads);
}

TEST(FaceTest, TheVersionIsTheProjects) { EXPECT_STREQ(kumiki_version(), PROJECT_VERSION); }

TEST(FaceTest, ErrorsAreExceptionsWithTheSentence) {
    Job job;
    auto region = job.allocate<double>(10);
    try {
        job.put(3, region[0], 1.0);
        FAIL() << "rank 3 does not exist";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), KUMIKI_ERROR_ARGUMENT);
        EXPECT_NE(std::string(error.what()).find("no rank 3"), std::string::npos) << error.what();
    }
    EXPECT_THROW(job.allocate<double>(static_cast<std::size_t>(-1)), Error);
    EXPECT_THROW(job.allocate<double>(0), Error);
    EXPECT_THROW(job.barrier_wait(), Error);
    std::vector<int> three(3), four(4);
    EXPECT_THROW(job.all_to_all(std::span<const int>(three), std::span(four)), Error);
    const std::size_t too_many[] = {5}, one[] = {1}, two[] = {1, 1};
    EXPECT_THROW(job.all_to_all_v(std::span<const int>(four), too_many, std::span(four), one), Error);
    EXPECT_THROW(job.all_to_all_v(std::span<const int>(four), two, std::span(four), one), Error);
}

TEST(FaceTest, RegionsMove) {
    Job job;
    auto first = job.allocate<int>(4);
    int* const data = first.data();
    Region<int> second = std::move(first);
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.size(), 4u);
    EXPECT_EQ(first.data(), nullptr);
    auto third = job.allocate<int>(8);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.at(0).data(), data);
    EXPECT_EQ(std::accumulate(third.begin(), third.end(), 0), 0);
}

TEST(FaceTest, PayloadsAreTheElementsOfASpan) {
    Job job;
    std::atomic<std::size_t> got{0};
    const int handler = job.on_message([&](int, std::span<const std::byte> payload) { got = payload.size(); });
    const auto send = [&](auto payload) {
        got = 0;
        job.send_active(0, handler, payload);
        while (got == 0) std::this_thread::yield();
        return got.load();
    };
    std::array<std::uint32_t, 5> numbers{1, 2, 3, 4, 5};
    EXPECT_EQ(send(std::span<const std::uint32_t>(numbers)), 20u);
    EXPECT_EQ(send(numbers), 20u) << "an array is a value";
    EXPECT_EQ(send(7.5), 8u);
    EXPECT_EQ(send(std::span<std::uint32_t>(numbers.data(), 5)), 20u) << "the elements, and not the span object itself";
    EXPECT_EQ(send(std::span(numbers)), 20u) << "of a static extent";
}

TEST(FaceTest, APayloadThatIsShorterThanItsTypeEndsInZeros) {
    Job job;
    using All = std::array<std::uint64_t, KUMIKI_ACTIVE_MESSAGE_MAX / sizeof(std::uint64_t)>;
    struct Words {
        All all;
    };
    std::atomic<int> handled{0};
    Words got{};
    const int handler = job.on_message<Words>([&](int, const Words& words) {
        got = words;
        ++handled;
    });
    const auto send = [&](std::span<const std::uint64_t> words) {
        const int before = handled;
        job.send_active(0, handler, words);
        while (handled == before) std::this_thread::yield();
    };
    All ones;
    ones.fill(1);
    send(ones);
    EXPECT_EQ(got.all, ones);
    send(std::span(ones).first(1));
    EXPECT_EQ(got.all, (All{1}));
}

TEST(TeamFaceTest, TheFirstExceptionComesOutAndTheSiblingsAreFreed) {
    Job job;
    for (const int threads : {1, 2, 4}) {
        Team team(job, threads);
        for (int thrower = 0; thrower < threads; ++thrower) {
            std::atomic<int> freed{0};
            try {
                team.run([&](Member& member) {
                    member.barrier();
                    if (member.thread() == thrower) throw std::runtime_error("thread " + std::to_string(thrower));
                    try {
                        member.barrier();
                    } catch (const Error& error) {
                        EXPECT_EQ(error.status(), KUMIKI_ERROR_STATE);
                        ++freed;
                        throw;
                    }
                });
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(error.what(), "thread " + std::to_string(thrower)) << "the cause, not what followed from it";
            }
            EXPECT_EQ(freed.load(), threads - 1);
            int ran = 0;
            team.run([&](Member& member) {
                member.barrier();
                if (member.master()) ran = member.threads();
                member.barrier();
                EXPECT_EQ(ran, threads);
            });
        }
    }
}

TEST(TeamFaceTest, PartsAndReductions) {
    Job job;
    Team team(job, 3);
    std::vector<int> touched(100);
    team.run([&](Member& member) {
        const Part part = member.part(touched.size());
        for (std::size_t i = part.begin; i < part.end; ++i) ++touched[i];
        EXPECT_EQ(member.reduce(part.size(), Operation::sum), 100u);
        EXPECT_EQ(member.reduce_all(member.thread(), Operation::max), 2);
        std::vector<double> many(1000, member.thread() + 1.0);
        member.reduce(std::span(many), Operation::product);
        EXPECT_EQ(many[999], 6.0);
        member.reduce(std::span<double>(), Operation::sum); // nothing: no error
    });
    EXPECT_EQ(std::accumulate(touched.begin(), touched.end(), 0), 100);
}

// -- several ranks, as separate programs --

TEST(ProgramTest, UsesEverythingTogether) {
    run_programs({.ranks = 3, .threads = 2}, [](int expected_rank) {
        Job job;
        ASSERT_EQ(job.rank(), expected_rank);
        ASSERT_EQ(job.size(), 3);
        ASSERT_EQ(job.threads(), 2);
        const int right = (job.rank() + 1) % 3, left = (job.rank() + 2) % 3;
        struct Cell {
            Signal signal;
            double values[7];
        };
        auto cells = job.allocate<Cell>(1);
        auto counter = job.allocate<std::uint64_t>(1);

        double mine[7];
        std::iota(std::begin(mine), std::end(mine), job.rank() * 10.0);
        job.put_signal(right, &cells[0].values[0], mine, cells[0].signal, 1);
        EXPECT_EQ(job.wait(cells[0].signal, Comparison::at_least, 1), 1u);
        EXPECT_EQ(cells[0].values[6], left * 10.0 + 6);
        EXPECT_EQ(job.get(right, cells[0].values[0]), job.rank() * 10.0);
        EXPECT_EQ(cells.at(right)[0].values[1], job.rank() * 10.0 + 1);
        job.barrier();
        job.fetch_add(0, counter[0], 1);
        job.barrier();
        EXPECT_EQ(job.get(0, counter[0]), 3u);

        int greeted = 0;
        const int hello = job.on_message([&](int source, std::span<const std::byte>) {
            EXPECT_EQ(source, left);
            ++greeted;
            job.signal(job.rank(), cells[0].signal, 100);
        });
        job.send_active(right, hello, 1);
        job.wait(cells[0].signal, Comparison::equal, 100);
        EXPECT_EQ(job.test(cells[0].signal, Comparison::at_least, 99), 100u);
        EXPECT_EQ(job.test(cells[0].signal, Comparison::less, 100), std::nullopt);
        EXPECT_EQ(greeted, 1);

        std::vector<int> all{job.rank(), job.rank(), job.rank()}, got(3);
        job.all_to_all(std::span<const int>(all), std::span(got));
        EXPECT_EQ(got, (std::vector{0, 1, 2}));
        const std::size_t counts[] = {1, 1, 1};
        job.all_to_all_v(std::span<const int>(all), counts, std::span(got), counts);
        EXPECT_EQ(got, (std::vector{0, 1, 2}));
        double value = job.rank() == 1 ? 2.5 : 0;
        job.broadcast(value, 1);
        EXPECT_EQ(value, 2.5);
        std::vector<int> summed(5, 1);
        job.reduce(std::span(summed), Operation::sum, 2);
        EXPECT_EQ(summed[4], job.rank() == 2 ? 3 : 1) << "the others' data stay as they were";

        Team team(job);
        ASSERT_EQ(team.size(), 2);
        team.run([&](Member& member) {
            EXPECT_EQ(member.reduce_all(1, Operation::sum), 6);
            member.barrier_all();
        });
        job.barrier_enter();
        job.barrier_wait();
    });
}

TEST(ProgramTest, RanksMayHaveDifferentNumbersOfThreads) {
    run_programs({.ranks = 3}, [](int rank) {
        const int threads[] = {3, 1, 2};
        setenv("KUMIKI_THREADS", std::to_string(threads[rank]).c_str(), 1); // as kumiki-run -t 3,1,2
        setenv("KUMIKI_JOB_THREADS", "3,1,2", 1);
        setenv("KUMIKI_DEVICES", rank == 1 ? "2,0" : "", 1);
        setenv("KUMIKI_CPUS", rank == 2 ? "0,0" : "", 1);
        Job job;
        EXPECT_EQ(job.threads(), threads[rank]);
        for (int other = 0; other < 3; ++other) EXPECT_EQ(job.threads(other), threads[other]);
        for (const int nobody : {-1, 3}) EXPECT_THROW(job.threads(nobody), Error);
        EXPECT_NE(kumiki_threads_of(job.handle(), 0, nullptr), KUMIKI_OK);
        EXPECT_TRUE(std::ranges::equal(job.devices(), rank == 1 ? std::vector{2, 0} : std::vector<int>()));
        EXPECT_TRUE(std::ranges::equal(job.processors(), rank == 2 ? std::vector{0, 0} : std::vector<int>()));

        Team team(job);
        ASSERT_EQ(team.size(), threads[rank]);
        auto arrived = job.allocate<std::uint64_t>(1);
        team.run([&](Member& member) {
            for (std::uint64_t round = 1; round <= 20; ++round) {
                job.fetch_add(0, arrived[0], 1);
                member.barrier_all();
                EXPECT_EQ(job.get(0, arrived[0]), 6 * round) << "a thread of some rank is missing";
                member.barrier_all();
                EXPECT_EQ(member.reduce_all(100 * rank + member.thread(), Operation::sum), 0 + 1 + 2 + 100 + 200 + 201);
                std::vector<double> many(1000, member.thread() + 1.0);
                member.reduce_all(std::span(many), Operation::sum);
                EXPECT_EQ(many[999], 6 + 1 + 3);
            }
        });
    });
}

// The failure of a rank must be visible: when it leaves its scopes, it must not wait for the others, because they wait
// for it.
TEST(ProgramTest, AnExceptionEndsARankThoughOthersWaitForIt) {
    Processes ranks;
    start_programs(ranks, {.ranks = 2}, [](int rank) {
        Job job;
        auto region = job.allocate<std::uint64_t>(1);
        auto other = job.allocate<std::uint64_t>(1);
        if (rank == 0) throw std::runtime_error("meant to fail");
        job.barrier();
    });
    const auto failed = ranks.ended_within(0, std::chrono::seconds(5));
    ASSERT_TRUE(failed) << "rank 0 waits while its exception is under way";
    EXPECT_EQ(failed->code, 1);
    EXPECT_FALSE(ranks.ended_within(1, std::chrono::milliseconds(100)))
        << "rank 1 waits for it, and is the launcher's to end";
}

// The handler of an abandoned job no longer exists; messages that still arrive must not reach it.
TEST(ProgramTest, NoHandlerRunsAfterAnException) {
    Processes ranks;
    start_programs(ranks, {.ranks = 2}, [](int rank) {
        if (rank == 1) {
            try {
                Job job;
                // Outlives everything, so that the test itself does not read destroyed objects.
                static std::atomic<bool> destroyed{false};
                static std::atomic<int> handled{0};
                struct Canary {
                    ~Canary() { destroyed = true; }
                };
                auto canary = std::make_shared<Canary>();
                job.on_message([canary = std::move(canary)](int, std::span<const std::byte>) {
                    EXPECT_FALSE(destroyed) << "the handler is gone";
                    ++handled;
                });
                job.barrier();
                while (handled.load() < 10) std::this_thread::yield();
                throw std::runtime_error("meant to fail");
            } catch (const std::runtime_error&) {}
            std::this_thread::sleep_for(std::chrono::milliseconds(200)); // the flood continues
            return;
        }
        Job job;
        const int handler = job.on_message([](int, std::span<const std::byte>) {});
        job.barrier();
        for (;;) job.send_active(1, handler, 1); // until it is killed at the end of the test
    });
    const auto ended = ranks.ended_within(1, std::chrono::seconds(10));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->code, 0) << "killed by signal " << ended->signal.value_or(0);
}

} // namespace
} // namespace kumiki
