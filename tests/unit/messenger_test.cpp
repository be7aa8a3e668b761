#include <gtest/gtest.h>
#include <map>
#include <thread>

#include "fabric/messenger.hpp"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::fabric {
namespace {

using namespace std::chrono_literals;
using tests::Random;
using tests::Rank;
using tests::run_ranks_as_threads;
using tests::Watchdog;
using Payload = std::span<const std::byte>;

/// The message of a test: the sender, its number, and a payload whose bytes follow from both.
struct Letter {
    std::int32_t source, thread;
    std::uint32_t number;

    std::size_t length() const {
        return sizeof(Letter) +
               (number * 37 + static_cast<std::uint32_t>(thread)) % (KUMIKI_ACTIVE_MESSAGE_MAX - sizeof(Letter) + 1);
    }
    std::byte byte(std::size_t i) const {
        return static_cast<std::byte>(i * 7 + number + static_cast<std::uint32_t>(source));
    }

    std::vector<std::byte> pack() const {
        std::vector<std::byte> bytes(length());
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte(i);
        std::memcpy(bytes.data(), this, sizeof(Letter));
        return bytes;
    }
    static Letter unpack(Payload bytes) {
        Letter letter;
        std::memcpy(&letter, bytes.data(), sizeof(Letter));
        EXPECT_EQ(bytes.size(), letter.length());
        for (std::size_t i = sizeof(Letter); i < bytes.size(); ++i)
            if (bytes[i] != letter.byte(i)) {
                ADD_FAILURE() << "byte " << i << " of letter " << letter.number << " is wrong";
                break;
            }
        return letter;
    }
};

/// Checks that a rank's handlers never run concurrently and that each thread's messages arrive in order; counts the
/// messages.
class Receiver {
public:
    void operator()(int source, Payload payload) {
        EXPECT_FALSE(busy_.exchange(true)) << "two handlers at once";
        const Letter letter = Letter::unpack(payload);
        EXPECT_EQ(letter.source, source);
        EXPECT_EQ(letter.number, next_[std::pair(letter.source, letter.thread)]++);
        busy_.store(false);
        received_.fetch_add(1, std::memory_order_release);
    }
    std::size_t received() const { return received_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> busy_{false};
    std::map<std::pair<int, int>, std::uint32_t> next_; // handlers run one at a time: no lock
    std::atomic<std::size_t> received_{0};
};

struct Shape {
    int ranks, threads;
    WaitPolicy wait;
    bool crowded;
};

class MessengerStress : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MessengerStress,
                         testing::Values(Shape{1, 2, WaitPolicy::adaptive, false},
                                         Shape{2, 1, WaitPolicy::adaptive, false},
                                         Shape{2, 2, WaitPolicy::sleep, false}, Shape{2, 2, WaitPolicy::adaptive, true},
                                         Shape{3, 2, WaitPolicy::adaptive, false},
                                         Shape{3, 1, WaitPolicy::yield, false}, Shape{4, 2, WaitPolicy::sleep, true}));

// Every thread of every rank floods every rank, including its own: inboxes are full all the time, in both directions.
TEST_P(MessengerStress, FloodsBothWaysArriveWholeInOrderAndOneAtATime) {
    const auto [ranks, threads, wait, crowded] = GetParam();
    const Watchdog watchdog("flood of active messages");
    const auto each = static_cast<std::uint32_t>(tests::rounds(10000));
    run_ranks_as_threads(
        {.ranks = ranks, .crowded = crowded, .wait = wait}, [&, ranks = ranks, threads = threads](Rank& rank) {
            Receiver receiver;
            const int handler = rank.collectives.add_handler(std::ref(receiver)).value();
            std::vector<std::thread> senders;
            for (int thread = 0; thread < threads; ++thread)
                senders.emplace_back([&, thread] {
                    for (std::uint32_t number = 0; number < each; ++number)
                        for (int target = 0; target < ranks; ++target)
                            rank.fabric.messenger().send(target, handler, Letter{rank.rank(), thread, number}.pack());
                });
            for (auto& sender : senders) sender.join();
            const std::size_t all = static_cast<std::size_t>(ranks * threads) * each;
            while (receiver.received() < all)
                std::this_thread::sleep_for(100us); // outside the library, so that the agents must finish
            ASSERT_TRUE(rank.collectives.barrier());
            EXPECT_EQ(receiver.received(), all);
        });
}

// Each message causes another one from within its handler until its steps are used up; far more are under way than fit
// into the inboxes.
TEST_P(MessengerStress, HandlersSendToFullInboxes) {
    const auto [ranks, threads, wait, crowded] = GetParam();
    const Watchdog watchdog("handlers that send");
    constexpr std::uint32_t chains = 300;
    const auto steps = static_cast<std::uint32_t>(tests::rounds(200));
    std::atomic<std::uint64_t> handled{0};
    run_ranks_as_threads({.ranks = ranks, .crowded = crowded, .wait = wait}, [&](Rank& rank) {
        int handler = -1;
        handler = rank.collectives
                      .add_handler([&](int, Payload payload) {
                          std::uint32_t left = 0;
                          std::memcpy(&left, payload.data(), sizeof(left));
                          if (left-- > 0)
                              rank.fabric.messenger().send((rank.rank() + 1) % rank.size(), handler,
                                                           std::as_bytes(std::span(&left, 1)));
                          // A rank leaves this frame when the count is full, so the handler uses it no more.
                          handled.fetch_add(1, std::memory_order_release);
                      })
                      .value();
        ASSERT_TRUE(rank.collectives.barrier());
        for (std::uint32_t chain = 0; chain < chains; ++chain)
            rank.fabric.messenger().send((rank.rank() + 1) % rank.size(), handler, std::as_bytes(std::span(&steps, 1)));
        const std::uint64_t all = static_cast<std::uint64_t>(rank.size()) * chains * (steps + 1);
        while (handled.load(std::memory_order_acquire) < all) std::this_thread::sleep_for(100us);
    });
    EXPECT_EQ(handled.load(), static_cast<std::uint64_t>(ranks) * chains * (steps + 1));
}

// Messages from handlers also keep their order, although some have to be kept for a while.
TEST(MessengerTest, WhatHandlersSendKeepsItsOrder) {
    const Watchdog watchdog("order of handlers' messages");
    run_ranks_as_threads({.ranks = 2}, [](Rank& rank) {
        Receiver receiver;
        const int count = rank.collectives.add_handler(std::ref(receiver)).value();
        const int burst =
            rank.collectives
                .add_handler([&](int source, Payload) {
                    for (std::uint32_t number = 0; number < 500; ++number)
                        rank.fabric.messenger().send(source, count, Letter{rank.rank(), 0, number}.pack());
                })
                .value();
        rank.fabric.messenger().send(1 - rank.rank(), burst, {});
        while (receiver.received() < 500) std::this_thread::sleep_for(100us);
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

TEST(MessengerTest, TheAgentServesARankThatNeverCallsTheLibrary) {
    const Watchdog watchdog("a target that never calls the library");
    for (const WaitPolicy wait : {WaitPolicy::adaptive, WaitPolicy::spin, WaitPolicy::sleep}) {
        std::atomic<bool> computing{false};
        run_ranks_as_threads({.ranks = 2, .wait = wait}, [&computing](Rank& rank) {
            std::atomic<int> handled{0};
            std::thread::id by;
            const int handler = rank.collectives
                                    .add_handler([&](int, Payload) {
                                        by = std::this_thread::get_id();
                                        handled.fetch_add(1, std::memory_order_release);
                                    })
                                    .value();
            if (rank.rank() == 0) {
                // Not earlier: rank 1 may still be in the barrier of add_handler, and run handlers there itself.
                while (!computing.load(std::memory_order_acquire)) std::this_thread::yield();
                for (int message = 0; message < 200; ++message) rank.fabric.messenger().send(1, handler, {});
            } else {
                computing.store(true, std::memory_order_release);
                while (handled.load(std::memory_order_acquire) < 200) tests::compute_for(1us);
                EXPECT_NE(by, std::this_thread::get_id()) << "F14: the agent, while this thread computes";
            }
            ASSERT_TRUE(rank.collectives.barrier());
        });
    }
}

TEST(MessengerTest, AWaitingThreadServesAndProgressSaysHowMany) {
    run_ranks_as_threads({.ranks = 1}, [](Rank& rank) {
        constexpr int messages = 10;
        std::atomic<int> handled{0};
        const int handler = rank.collectives.add_handler([&](int, Payload) { handled.fetch_add(1); }).value();
        // An agent that has not fallen asleep yet may take some of the first messages; after that it is no longer rung.
        int reported = 0;
        for (int round = 1; round <= 1000 && reported < messages; ++round) {
            // With an attendant, only this thread must run the handlers.
            const Messenger::Attendance attendance(rank.fabric.messenger());
            for (int message = 0; message < messages; ++message) rank.fabric.messenger().send(0, handler, {});
            reported = 0;
            while (handled.load() < round * messages) reported += rank.fabric.messenger().progress();
            ASSERT_LE(reported, messages);
        }
        EXPECT_EQ(reported, messages);
        EXPECT_EQ(rank.fabric.messenger().progress(), 0);
    });
}

// A program that polls shares the work with the agent; when it stops, the agent takes over.
TEST(MessengerTest, AProgramMayPollAndStop) {
    const Watchdog watchdog("a program that polls");
    constexpr int messages = 500;
    std::atomic<int> handled{0};
    run_ranks_as_threads({.ranks = 2}, [&](Rank& rank) {
        const int handler = rank.collectives.add_handler([&](int, Payload) { handled.fetch_add(1); }).value();
        if (rank.rank() == 0)
            for (int sent = 0; sent < messages; ++sent) {
                rank.fabric.messenger().send(1, handler, {});
                while (handled.load() <= sent) std::this_thread::yield();
            }
        else
            while (handled.load() < messages) rank.fabric.messenger().poll();
        ASSERT_TRUE(rank.collectives.barrier());
        if (rank.rank() == 0) rank.fabric.messenger().send(1, handler, {});
        else
            while (handled.load() <= messages) std::this_thread::sleep_for(100us);
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

// Messages arrive while threads begin and end their waits: at these moments either the waiting thread or the agent must
// serve them.
TEST(MessengerStress, NoneIsForgottenWhenWaitersComeAndGo) {
    const Watchdog watchdog("messages beside short waits");
    for (const WaitPolicy wait : {WaitPolicy::adaptive, WaitPolicy::sleep})
        run_ranks_as_threads({.ranks = 2, .wait = wait}, [](Rank& rank) {
            std::atomic<std::uint64_t> echoed{0};
            int ask = -1, answer = -1;
            answer = rank.collectives.add_handler([&](int, Payload) { echoed.fetch_add(1, std::memory_order_release); })
                         .value();
            ask = rank.collectives
                      .add_handler([&](int source, Payload) { rank.fabric.messenger().send(source, answer, {}); })
                      .value();
            Random random(static_cast<std::uint64_t>(rank.rank()));
            for (std::uint64_t round = 1; round <= tests::rounds(20000); ++round) {
                rank.fabric.messenger().send(1 - rank.rank(), ask, {});
                if (random.once_in(8)) tests::compute_for(std::chrono::nanoseconds(random.between(0, 20000)));
                ASSERT_TRUE(rank.collectives.barrier());
                while (echoed.load(std::memory_order_acquire) < round) std::this_thread::yield();
            }
            ASSERT_TRUE(rank.collectives.barrier());
        });
}

// Messages arrive faster than they are handled, without end: a thread that waits for something else must nevertheless
// see it happen.
TEST(MessengerTest, AFloodDoesNotHoldAWaiter) {
    const Watchdog watchdog("a waiter in a flood of messages");
    for (const WaitPolicy wait : {WaitPolicy::adaptive, WaitPolicy::sleep}) {
        std::atomic<bool> returned{false};
        std::atomic<int> handled{0}; // outlives the ranks, because the rest of the flood is handled while they leave
        bool in_time = false;
        run_ranks_as_threads({.ranks = 2, .wait = wait}, [&](Rank& rank) {
            const int handler = rank.collectives
                                    .add_handler([&](int, Payload) {
                                        tests::compute_for(5us);
                                        handled.fetch_add(1, std::memory_order_release);
                                    })
                                    .value();
            if (rank.rank() == 0) {
                // Two threads, so that one sends while the other one is not running.
                const auto flood = [&, end = std::chrono::steady_clock::now() + 30s] {
                    while (!returned.load() && std::chrono::steady_clock::now() < end)
                        rank.fabric.messenger().send(1, handler, {});
                };
                std::thread second(flood);
                flood();
                second.join();
                in_time = returned.load();
            } else {
                rank.fabric.progress().wait([&] { return handled.load(std::memory_order_acquire) >= 500; });
                returned = true;
            }
            ASSERT_TRUE(rank.collectives.barrier());
        });
        EXPECT_TRUE(in_time) << "the waiter returned only when the flood had ended";
    }
}

// A handler may still be running when its rank has left, so everything with which it sends must exist until it has
// ended.
TEST(MessengerTest, AHandlerThatSendsOutlivesItsRanksLastCall) {
    const Watchdog watchdog("a handler that sends late");
    std::atomic<int> begun{0};
    run_ranks_as_threads({.ranks = 2}, [&](Rank& rank) {
        const int other = 1 - rank.rank();
        const int last = rank.collectives.add_handler([](int, Payload) {}).value();
        const int first = rank.collectives
                              .add_handler([&begun, &messenger = rank.fabric.messenger(), other, last](int, Payload) {
                                  begun.fetch_add(1);
                                  std::this_thread::sleep_for(20ms);
                                  messenger.send(other, last, {});
                              })
                              .value();
        rank.fabric.messenger().send(other, first, {});
        while (begun.load() < 2) std::this_thread::yield();
    });
}

// -- behind the C interface --

struct Counted {
    std::atomic<int> handled{0};
    static void count(kumiki_job*, int, const void*, size_t, void* context) {
        static_cast<Counted*>(context)->handled.fetch_add(1);
    }
};

// Messages that were sent before a rank left are handled before their target has left, however soon that is.
TEST(MessengerStress, LeavingDoesNotDropWhatHasArrived) {
    const Watchdog watchdog("leaving");
    for (std::size_t round = 0; round < tests::rounds(400); ++round) {
        std::array<Counted, 2> counted;
        const int messages = static_cast<int>(round % 7);
        tests::run_jobs_as_threads({.ranks = 2, .arena_bytes = std::size_t{2} << 20}, [&](kumiki_job* job) {
            int handler = -1;
            ASSERT_EQ(kumiki_register_handler(job, &Counted::count,
                                              &counted[static_cast<std::size_t>(kumiki_rank(job))], &handler),
                      KUMIKI_OK);
            for (int message = 0; message < messages; ++message)
                ASSERT_EQ(kumiki_active_message(job, 1 - kumiki_rank(job), handler, nullptr, 0), KUMIKI_OK);
        });
        for (const Counted& each : counted) ASSERT_EQ(each.handled.load(), messages);
    }
}

TEST(ActiveMessageTest, MisuseIsAnErrorThatNamesTheValues) {
    tests::run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        Counted counted;
        int handler = -1;
        tests::expect_error(kumiki_active_message(job, 0, 0, nullptr, 0), KUMIKI_ERROR_ARGUMENT,
                            {"no handler 0", "0 are registered"});
        ASSERT_EQ(kumiki_register_handler(job, &Counted::count, &counted, &handler), KUMIKI_OK);
        EXPECT_EQ(handler, 0);
        std::array<std::byte, KUMIKI_ACTIVE_MESSAGE_MAX + 1> payload{};
        tests::expect_error(kumiki_active_message(job, -1, handler, nullptr, 0), KUMIKI_ERROR_ARGUMENT,
                            {"no rank -1", "0 to 1"});
        tests::expect_error(kumiki_active_message(job, 2, handler, nullptr, 0), KUMIKI_ERROR_ARGUMENT,
                            {"no rank 2", "0 to 1"});
        tests::expect_error(kumiki_active_message(job, 0, handler + 1, nullptr, 0), KUMIKI_ERROR_ARGUMENT,
                            {"no handler 1", "1 are registered"});
        tests::expect_error(kumiki_active_message(job, 0, -1, nullptr, 0), KUMIKI_ERROR_ARGUMENT, {"no handler -1"});
        tests::expect_error(kumiki_active_message(job, 0, handler, payload.data(), payload.size()),
                            KUMIKI_ERROR_ARGUMENT, {"449", "448"});
        tests::expect_error(kumiki_active_message(job, 0, handler, nullptr, 1), KUMIKI_ERROR_ARGUMENT, {"null"});
        EXPECT_EQ(kumiki_active_message(job, kumiki_rank(job), handler, payload.data(), KUMIKI_ACTIVE_MESSAGE_MAX),
                  KUMIKI_OK);
        EXPECT_EQ(kumiki_active_message(job, kumiki_rank(job), handler, nullptr, 0), KUMIKI_OK);
        while (counted.handled < 2) EXPECT_EQ(kumiki_progress(job, nullptr), KUMIKI_OK);
        tests::expect_error(kumiki_register_handler(job, nullptr, nullptr, &handler), KUMIKI_ERROR_ARGUMENT, {"null"});
        for (int more = 1; more < Messenger::most_handlers; ++more)
            ASSERT_EQ(kumiki_register_handler(job, &Counted::count, &counted, &handler), KUMIKI_OK);
        tests::expect_error(kumiki_register_handler(job, &Counted::count, &counted, &handler), KUMIKI_ERROR_STATE,
                            {"256 handlers"});
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK) << "and the job is usable";
    });
}

} // namespace
} // namespace kumiki::fabric
