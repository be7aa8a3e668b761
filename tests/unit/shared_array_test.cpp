#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <kumiki/kumiki.hpp>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fault_signals.hpp"
#include "support/filter.hpp"
#include "support/jobs.hpp"

// Shared arrays as programs use them: each rank is a process. There is no Watchdog: run_programs() itself does not wait
// for ever, and ThreadSanitizer does not allow a process with threads to fork others that have some.
namespace kumiki {
namespace {

using tests::run_programs;

const char* const copies[] = {"host", "rank"};

TEST(SharedArrayTest, HasTheSameAddressAndContentsInEveryRank) {
    for (const char* const copy : copies)
        run_programs({.ranks = 3}, [copy](int) {
            setenv("KUMIKI_SHARED_COPIES", copy, 1);
            Job job;
            auto array = job.share<int>(100000, Homes::cyclic);
            auto links = job.share<const int*>(3);
            // A pointer that one rank stores means the same to another.
            links[job.rank()] = &array[job.rank() * 1000];
            for (std::size_t at = static_cast<std::size_t>(job.rank()); at < array.size(); at += 3)
                array[at] = static_cast<int>(at);
            job.shared_barrier();
            for (std::size_t at = 0; at < array.size(); ++at) ASSERT_EQ(array[at], static_cast<int>(at)) << copy;
            for (int rank = 0; rank < 3; ++rank) ASSERT_EQ(*links[rank], rank * 1000) << copy;
            ASSERT_EQ(array.home(0), 0);
            job.shared_barrier();
        });
}

// On one host nothing stands between the ranks: not even a barrier is needed for what they do by atomics.
TEST(SharedArrayTest, IsOneMemoryOnOneHost) {
    run_programs({.ranks = 2}, [](int) {
        Job job;
        auto array = job.share<std::uint64_t>(1 << 20);
        std::atomic_ref word(array[array.size() - 1]);
        for (int i = 0; i < 1000; ++i) word.fetch_add(1);
        while (word.load() < 2000) {} // no call of the library
        const kumiki_shared_counters counters = array.counters();
        EXPECT_EQ(counters.faults + counters.fetches + counters.notices, 0u);
        EXPECT_STREQ(kumiki_shared_mechanism(job.handle()), "none");
        EXPECT_FALSE(platform::may_fault(std::as_bytes(array.span()))); // so a transfer does not copy it
        job.shared_barrier();
    });
}

TEST(SharedArrayTest, CountsWhatCopiesCost) {
    run_programs({.ranks = 2}, [](int) {
        setenv("KUMIKI_SHARED_COPIES", "rank", 1);
        Job job;
        auto array = job.share<std::uint8_t>(4 * 65536, Homes::block, 65536);
        EXPECT_TRUE(platform::may_fault(std::as_bytes(array.span())));
        if (job.rank() == 1) array[3] = 1; // the home is rank 0
        job.shared_barrier();
        const kumiki_shared_counters counters = array.counters();
        ASSERT_EQ(array[3], 1);
        if (job.rank() == 1) {
            EXPECT_EQ(counters.fetches, 1u);
            EXPECT_EQ(counters.fetched_bytes, 65536u);
            EXPECT_EQ(counters.twins, 1u);
            EXPECT_EQ(counters.differences, 1u);
            EXPECT_EQ(counters.difference_bytes, 1u);
        } else {
            EXPECT_EQ(counters.fetches, 0u);
        }
        job.shared_barrier();
    });
}

TEST(SharedArrayTest, ArraysFollowEachOther) {
    for (const char* const copy : copies)
        run_programs({.ranks = 2}, [copy](int) {
            setenv("KUMIKI_SHARED_COPIES", copy, 1);
            Job job;
            for (int round = 1; round <= 20; ++round) {
                auto one = job.share<int>(5000), other = job.share<int>(static_cast<std::size_t>(round) * 3000);
                if (job.rank() == round % 2) one[4999] = other[0] = round;
                job.shared_barrier();
                ASSERT_EQ(one[4999] + other[0], 2 * round);
                ASSERT_EQ(one[1] + other[1], 0) << "a new array begins with zeros";
                job.shared_barrier();
            }
        });
}

// As in a container whose security profile does not know userfaultfd.
TEST(SharedArrayTest, WithoutUserfaultfdPagesAreProtected) {
    run_programs({.ranks = 2}, [](int) {
        ASSERT_TRUE(tests::refuse_userfaultfd());
        setenv("KUMIKI_SHARED_COPIES", "rank", 1);
        Job job;
        auto array = job.share<int>(100000, Homes::cyclic);
        for (int round = 1; round <= 3; ++round) {
            for (std::size_t at = static_cast<std::size_t>(job.rank()); at < array.size(); at += 2)
                array[at] = static_cast<int>(at) * round;
            job.shared_barrier();
            for (std::size_t at = 0; at < array.size(); ++at) ASSERT_EQ(array[at], static_cast<int>(at) * round);
            job.shared_barrier();
        }
        EXPECT_GT(array.counters().fetches, 0u);
        EXPECT_STREQ(kumiki_shared_mechanism(job.handle()), "protection");
        job.shared_barrier();
    });
}

TEST(SharedArrayTest, WhoInsistsOnUserfaultfdIsToldWhatForbidsIt) {
    run_programs({.ranks = 2}, [](int) {
        ASSERT_TRUE(tests::refuse_userfaultfd());
        setenv("KUMIKI_SHARED_COPIES", "rank", 1);
        setenv("KUMIKI_SHARED_FAULTS", "userfaultfd", 1);
        Job job;
        void* memory = nullptr;
        tests::expect_error(kumiki_shared_allocate(job.handle(), 8, 0, KUMIKI_HOMES_BLOCK, &memory),
                            KUMIKI_ERROR_ENVIRONMENT, {"Operation not permitted", "security profile", "auto"});
    });
}

/// What a process that does this prints, and the signal that ends it.
struct Death {
    int signal;
    std::string words;
};
template <class Body>
Death die(Body body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    Death death{};
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        death.words.append(buffer, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    death.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return death;
}

// An access outside an array is the program's own segmentation fault, with a sentence where it is near one.
TEST(SharedArrayTest, AnAccessBesideAnArrayEndsTheRankWithASentence) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer has its own report of such an access";
#endif
    for (const char* const copy : copies) {
        const Death death = die([copy] {
            run_programs({.ranks = 2}, [copy](int) {
                setenv("KUMIKI_SHARED_COPIES", copy, 1);
                Job job;
                auto array = job.share<int>(1024);
                job.shared_barrier();
                if (job.rank() == 1) static_cast<volatile int*>(array.data())[1 << 20] = 1;
                _exit(0);
            });
        });
        EXPECT_NE(death.words.find("rank 1 has accessed 0x2"), std::string::npos) << copy << ": " << death.words;
        EXPECT_NE(death.words.find("4190208 bytes behind the end of the shared array at 0x2"), std::string::npos)
            << copy << ": " << death.words;
    }
}

TEST(SharedArrayTest, MistakesAreNamed) {
    run_programs({.ranks = 1}, [](int) {
        Job job;
        kumiki_job* const handle = job.handle();
        void* memory = nullptr;
        int rank = 0, local = 0;
        tests::expect_error(kumiki_shared_allocate(handle, 0, 0, KUMIKI_HOMES_BLOCK, &memory), KUMIKI_ERROR_ARGUMENT,
                            {"at least one byte"});
        tests::expect_error(kumiki_shared_allocate(handle, 8, 1000, KUMIKI_HOMES_BLOCK, &memory), KUMIKI_ERROR_ARGUMENT,
                            {"1000", "power of two"});
        tests::expect_error(kumiki_shared_allocate(handle, 8, 0, tests::no_such<kumiki_homes>(7), &memory),
                            KUMIKI_ERROR_ARGUMENT, {"homes"});
        tests::expect_error(kumiki_shared_allocate(handle, 8, 0, KUMIKI_HOMES_BLOCK, nullptr), KUMIKI_ERROR_ARGUMENT,
                            {"null"});
        tests::expect_error(kumiki_shared_release(handle, &local), KUMIKI_ERROR_ARGUMENT, {"no shared array"});
        tests::expect_error(kumiki_shared_home(handle, &local, &rank), KUMIKI_ERROR_ARGUMENT, {"no shared array"});
        tests::expect_error(kumiki_shared_home(handle, &local, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        tests::expect_error(kumiki_shared_count(handle, nullptr, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
    });
}

} // namespace
} // namespace kumiki
