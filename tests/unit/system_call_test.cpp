// System calls with buffers in pages of shared arrays that are not here, or may only be read. Each rank is a process.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <kumiki/kumiki.hpp>
#include <linux/futex.h>
#include <mutex>
#include <numeric>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "support/filter.hpp"
#include "support/jobs.hpp"
#include "support/shared_memory.hpp"
#include "system_calls.hpp"

namespace kumiki {
namespace {

using tests::bringings;
using tests::Buffers;
using tests::Bytes;
using tests::Files;
using tests::fillings;
using tests::memory_file;
using tests::Pages;
using tests::pipe_ends;
using tests::text_of;

class SystemCallTest : public testing::TestWithParam<FaultMechanism> {
protected:
    void SetUp() override {
#ifdef __SANITIZE_THREAD__
        GTEST_SKIP()
            << "ThreadSanitizer has functions of its own in the place of system calls, and cannot follow ranks that "
               "are processes";
#endif
    }
    /// Runs body(job) at two ranks with copies of their own.
    template <class Body>
    void run(Body body) {
        const bool userfaultfd = GetParam() == FaultMechanism::userfaultfd;
        if (userfaultfd)
            if (const auto works = platform::userfaultfd_works(); !works) GTEST_SKIP() << works.error().message;
        tests::run_programs({.ranks = 2}, [userfaultfd, body](int rank) {
            setenv("KUMIKI_SHARED_COPIES", "rank", 1);
            setenv("KUMIKI_SHARED_FAULTS", userfaultfd ? "userfaultfd" : "protection", 1);
            body(rank);
        });
    }
};

TEST_P(SystemCallTest, WhatTheKernelWritesReachesTheHome) {
    for (const Pages state : {Pages::absent, Pages::clean})
        run([state](int) {
            Job job;
            Buffers buffers(job, fillings.size());
            for (std::size_t each = 0; each < fillings.size(); ++each) {
                const Bytes buffer = job.rank() == 1 ? buffers.buffer(each, state) : buffers.buffer(each);
                const std::string text = text_of(buffer.size(), static_cast<int>(each));
                if (job.rank() == 1) fillings[each].fill(buffer, text);
                job.shared_barrier();
                EXPECT_EQ(std::string(buffer.data(), buffer.size()), text)
                    << fillings[each].name << " at " << job.rank();
                EXPECT_EQ(buffer.data()[-1], 0) << fillings[each].name;
                EXPECT_EQ(buffer.data()[buffer.size()], 0) << fillings[each].name;
                job.shared_barrier();
            }
        });
}

TEST_P(SystemCallTest, TheKernelReadsWhatTheHomeHasWritten) {
    for (const Pages state : {Pages::absent, Pages::clean})
        run([state](int) {
            Job job;
            Buffers buffers(job, bringings.size());
            for (std::size_t each = 0; each < bringings.size(); ++each) {
                const Bytes buffer = buffers.buffer(each);
                const std::string text = text_of(buffer.size(), static_cast<int>(each));
                if (job.rank() == 0) std::ranges::copy(text, buffer.begin());
                job.shared_barrier();
                if (job.rank() == 1) {
                    const kumiki_shared_counters before = buffers.array().counters();
                    EXPECT_EQ(bringings[each].bring(buffers.buffer(each, state)), text) << bringings[each].name;
                    EXPECT_EQ(buffers.array().counters().twins, before.twins) << bringings[each].name << " only reads";
                }
                job.shared_barrier();
            }
        });
}

TEST_P(SystemCallTest, StructuresAndNumbersOfOtherCallsAreWritten) {
    run([](int) {
        Job job;
        Buffers buffers(job, 8);
        if (job.rank() == 1) {
            auto* const status = reinterpret_cast<struct stat*>(buffers.buffer(0).data() + 4);
            ASSERT_EQ(stat("/", status), 0) << std::strerror(errno);
            EXPECT_TRUE(S_ISDIR(status->st_mode));
            const Bytes random = buffers.buffer(1);
            ASSERT_EQ(getrandom(random.data(), random.size(), 0), static_cast<ssize_t>(random.size()));
            EXPECT_NE(std::accumulate(random.begin(), random.end(), 0), 0);
            const Bytes folder = buffers.buffer(2);
            ASSERT_EQ(getcwd(folder.data(), folder.size()), folder.data()) << std::strerror(errno);
            char* const path = buffers.buffer(3).data();
            std::strcpy(path, "/proc/self/status"); // NOLINT: long enough
            EXPECT_EQ(access(path, R_OK), 0) << std::strerror(errno);
            auto* const ends = reinterpret_cast<int*>(buffers.buffer(4).data());
            ASSERT_EQ(pipe(ends), 0);
            auto* const polled = reinterpret_cast<pollfd*>(buffers.buffer(5).data() + 4);
            ASSERT_EQ(syscall(SYS_write, ends[1], "x", 1), 1);
            polled[0] = {ends[0], POLLIN, 0};
            ASSERT_EQ(poll(polled, 1, 0), 1);
            EXPECT_EQ(polled[0].revents, POLLIN);
            close(ends[0]);
            close(ends[1]);
        }
        job.shared_barrier();
        auto* const status = reinterpret_cast<struct stat*>(buffers.buffer(0).data() + 4);
        EXPECT_TRUE(S_ISDIR(status->st_mode)) << "at rank " << job.rank();
        job.shared_barrier();
    });
}

TEST_P(SystemCallTest, AMaskOfSignalsInAnArrayHolds) {
    run([](int) {
        Job job;
        Buffers buffers(job, 4);
        auto* const wanted = reinterpret_cast<sigset_t*>(buffers.buffer(0).data() + 4);
        auto* const old = reinterpret_cast<sigset_t*>(buffers.buffer(1).data() + 4);
        if (job.rank() == 0) {
            sigemptyset(wanted);
            sigaddset(wanted, SIGUSR1);
        }
        job.shared_barrier();
        if (job.rank() == 1) {
            ASSERT_EQ(pthread_sigmask(SIG_BLOCK, wanted, old), 0);
            EXPECT_EQ(sigismember(old, SIGUSR1), 0);
            sigset_t now;
            ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &now), 0);
            EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
            EXPECT_EQ(sigismember(&now, SIGUSR2), 0);
            raise(SIGUSR1); // waits
            timespec none{};
            EXPECT_EQ(sigtimedwait(wanted, nullptr, &none), SIGUSR1) << std::strerror(errno);
            ASSERT_EQ(pthread_sigmask(SIG_SETMASK, old, nullptr), 0);
            ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &now), 0);
            EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
        }
        job.shared_barrier();
    });
}

TEST_P(SystemCallTest, AFutexInAnArrayComparesItsWord) {
    run([](int) {
        Job job;
        Buffers buffers(job, 4);
        auto* const word = reinterpret_cast<std::uint32_t*>(buffers.buffer(0).data());
        if (job.rank() == 0) *word = 5;
        job.shared_barrier();
        if (job.rank() == 1) {
            errno = 0;
            EXPECT_EQ(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 4, nullptr, nullptr, 0), -1);
            EXPECT_EQ(errno, EAGAIN);
            timespec soon{0, 1000000};
            EXPECT_EQ(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 5, &soon, nullptr, 0), -1);
            EXPECT_EQ(errno, ETIMEDOUT);
        }
        job.shared_barrier();
    });
}

// The kernel reports what is no array, and what is behind the end of one.
TEST_P(SystemCallTest, AnAddressOutsideOfArraysIsStillAnError) {
    run([](int) {
        Job job;
        Buffers buffers(job, 2);
        job.shared_barrier();
        if (job.rank() == 1) {
            const Files file(memory_file());
            char* const outside = buffers.array().data() + buffers.array().size() + (1 << 20);
            iovec piece{outside, 10};
            const auto fails = [](auto result) { return result == -1 && errno == EFAULT; };
            EXPECT_TRUE(fails(write(file.out(), outside, 10)));
            EXPECT_TRUE(fails(writev(file.out(), &piece, 1)));
            EXPECT_TRUE(fails(stat("/", reinterpret_cast<struct stat*>(outside))));
            EXPECT_TRUE(fails(syscall(SYS_write, file.out(), 0, 10)));
            // The last pages are this rank's own; the system has a page at a time.
            char* const last = buffers.array().data() + buffers.array().size() - 10;
            EXPECT_EQ(write(file.out(), last, 10), 10);
            const ssize_t part = write(file.out(), last, 3 * platform::page_size());
            EXPECT_TRUE(part == 10 || fails(part)) << part << " " << std::strerror(errno);
            // What fails for another reason is not repeated.
            EXPECT_EQ(write(-1, buffers.buffer(0).data(), 10), -1);
            EXPECT_EQ(errno, EBADF);
        }
        job.shared_barrier();
    });
}

TEST_P(SystemCallTest, ThreadsCallAtTheSameTimeAlsoThoseThatStartedBefore) {
    run([](int rank) {
        constexpr std::size_t threads = 4, rounds = 50;
        const std::size_t bytes = platform::page_size() / 2; // so that two of them share a page
        const auto text = [bytes](std::size_t round, std::size_t thread) {
            return text_of(bytes, static_cast<int>(round * threads + thread));
        };
        std::atomic<char*> array{nullptr};
        std::vector<std::thread> all;
        for (std::size_t thread = 0; rank == 1 && thread < threads; ++thread)
            all.emplace_back([&array, bytes, thread, text] {
                array.wait(nullptr);
                const Files ends(pipe_ends());
                for (std::size_t round = 0; round < rounds; ++round) {
                    const std::string put = text(round, thread);
                    ASSERT_EQ(write(ends.out(), put.data(), bytes), static_cast<ssize_t>(bytes));
                    ASSERT_EQ(read(ends.in(), array.load() + (round * threads + thread) * bytes, bytes),
                              static_cast<ssize_t>(bytes))
                        << std::strerror(errno);
                }
            });
        Job job;
        auto shared = job.share<char>(2 * rounds * threads * bytes, Homes::block);
        array = shared.data();
        array.notify_all();
        for (auto& each : all) each.join();
        job.shared_barrier();
        for (std::size_t round = 0; round < rounds; ++round)
            for (std::size_t thread = 0; thread < threads; ++thread)
                ASSERT_EQ(std::string(shared.data() + (round * threads + thread) * bytes, bytes), text(round, thread));
        job.shared_barrier();
    });
}

// Another thread's release of a lock makes the page read-only while the call waits.
TEST_P(SystemCallTest, ACallThatWaitsOutlivesTheReleaseOfALock) {
    run([](int) {
        constexpr int rounds = 50;
        Job job;
        Buffers buffers(job, 2);
        const Bytes buffer = buffers.buffer(0);
        if (job.rank() == 1) {
            const Files ends(pipe_ends());
            std::atomic<int> begun{0};
            std::thread reader([&] {
                for (int round = 1; round <= rounds; ++round) {
                    begun = round;
                    ASSERT_EQ(read(ends.in(), buffer.data() + round, 1), 1) << std::strerror(errno);
                }
            });
            SharedLock lock = job.shared_lock(3);
            for (int round = 1; round <= rounds; ++round) {
                while (begun != round) std::this_thread::yield();
                if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200)); // the thread waits now
                {
                    const std::lock_guard guard(lock);
                    ++buffer[0];
                }
                ASSERT_EQ(write(ends.out(), "x", 1), 1);
            }
            reader.join();
        }
        job.shared_barrier();
        for (int round = 1; round <= rounds; ++round) ASSERT_EQ(buffer[static_cast<std::size_t>(round)], 'x');
        job.shared_barrier();
    });
}

TEST_P(SystemCallTest, ASignalInterruptsACallThatWaits) {
    run([](int) {
        Job job;
        Buffers buffers(job, 2);
        job.shared_barrier();
        if (job.rank() == 1) {
            struct sigaction action{};
            action.sa_handler = [](int) {};
            ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
            const Files ends(pipe_ends());
            const pthread_t here = pthread_self();
            std::atomic<bool> over{false};
            std::thread disturber([&] {
                while (!over) {
                    pthread_kill(here, SIGUSR1);
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            });
            EXPECT_EQ(read(ends.in(), buffers.buffer(0).data(), 10), -1);
            EXPECT_EQ(errno, EINTR);
            over = true;
            disturber.join();
        }
        job.shared_barrier();
    });
}

int status_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Children inherit the filter, but not the arrays.
TEST_P(SystemCallTest, ChildrenCallWhatTheyLike) {
    run([](int) {
        Job job;
        Buffers buffers(job, 2);
        job.shared_barrier();
        char* const absent = buffers.buffer(0).data();
        const pid_t forked = fork();
        if (forked == 0) {
            const int file = memfd_create("child", 0);
            iovec piece{absent, 10};
            const bool refused =
                write(file, absent, 10) == -1 && errno == EFAULT && writev(file, &piece, 1) == -1 && errno == EFAULT;
            _exit(refused ? 42 : 1);
        }
        EXPECT_EQ(status_of(forked), 42);
        // A child that is another program, with calls that have arrays of addresses.
        const pid_t executed = fork();
        if (executed == 0) {
            execl("/bin/bash", "bash", "-c", "exec 3<>/dev/null; printf '%s\\n' one two >&3; ls / | cat >&3; exit 42",
                  nullptr);
            _exit(1);
        }
        EXPECT_EQ(status_of(executed), 42);
        EXPECT_EQ(WEXITSTATUS(std::system("exit 42")), 42);
        job.shared_barrier();
    });
}

// As in a container whose security profile does not know seccomp: everything but such calls works.
TEST_P(SystemCallTest, WithoutAFilterOnlyTheCallsFail) {
    run([](int) {
        ASSERT_TRUE(tests::refuse_seccomp());
        Job job;
        Buffers buffers(job, 2);
        if (job.rank() == 0) buffers.buffer(0)[0] = 'x';
        job.shared_barrier();
        if (job.rank() == 1) {
            const Files file(memory_file());
            EXPECT_EQ(write(file.out(), buffers.buffer(0).data(), 1), -1);
            EXPECT_EQ(errno, EFAULT);
            EXPECT_EQ(buffers.buffer(0)[0], 'x');
            EXPECT_EQ(write(file.out(), buffers.buffer(0).data(), 1), 1);
        }
        job.shared_barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SystemCallTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki
