// Two-sided messages: every path that the data can take, over both fabrics.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "message/messages.hpp"
#include "support/build.hpp"
#include "support/pattern.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::message {
namespace {

using tests::Rank;
using tests::run_ranks_as_processes;
using tests::run_ranks_as_threads;
using tests::Watchdog;

using Bytes = std::vector<std::byte>;

/// Bytes that depend on the sender and on the number of the message.
Bytes pattern(std::size_t bytes, int source, int number) {
    return tests::pattern(bytes, static_cast<std::uint64_t>(source * 31 + number));
}

/// One rank's messages, with waits for the expected results.
class Post {
public:
    explicit Post(Rank& rank, const Messages::Options& options = {}) : rank_(rank), messages(rank.fabric, options) {
        EXPECT_TRUE(messages.start_agent());
        EXPECT_TRUE(rank.collectives.barrier());
    }
    ~Post() { EXPECT_TRUE(rank_.collectives.barrier()); }

    Request* send(int to, int tag, std::span<const std::byte> data) { return messages.send(to, tag, data).value(); }
    void wait(Request* request) { EXPECT_TRUE(request == nullptr || messages.wait(*request)); }
    void send_and_wait(int to, int tag, std::span<const std::byte> data) { wait(send(to, tag, data)); }
    Result<Status> receive(int from, int tag, std::span<std::byte> into) {
        return messages.wait(messages.receive(from, tag, into));
    }
    /// Receives a message of exactly these bytes.
    void expect(int from, int tag, const Bytes& data) {
        Bytes got(data.size());
        const auto status = receive(from, tag, got);
        ASSERT_TRUE(status) << status.error().message;
        EXPECT_EQ(status->bytes, data.size());
        EXPECT_TRUE(tests::same_bytes(got, data)) << "message of " << data.size() << " bytes";
    }

private:
    Rank& rank_;

public:
    Messages messages;
};

/// The paths that long messages can take on one host.
struct Way {
    const char* name;
    Messages::Options options;
};
const Way ways[] = {
    {"best", {}},
    {"system", {0, {false, true}}},
    {"area", {0, {false, false}}},
    {"fragments of 223", {223, {}}},
    {"fragments of 4048 through the area", {4048, {false, false}}},
    {"fragments of 1048528", {1048528, {}}},
    {"tuned", {0, {}, 4048, 4048}},
};
const std::size_t sizes[] = {0,    1,    8,    48,   49,   108,  109,   223,   224,   1024,
                             1025, 4048, 4049, 8000, 8192, 8193, 65535, 65536, 65537, 1000003};

class MessageWays : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, MessageWays, testing::ValuesIn(ways));

TEST_P(MessageWays, EveryLengthArrivesBothWhenAskedForBeforeAndAfter) {
    const Watchdog watchdog(GetParam().name);
    run_ranks_as_threads({}, [](Rank& rank) {
        Post post(rank, GetParam().options);
        const int other = 1 - rank.rank();
        for (const std::size_t bytes : sizes) {
            const Bytes mine = pattern(bytes, rank.rank(), 1), theirs = pattern(bytes, other, 1);
            Bytes into(bytes);
            Request& early = post.messages.receive(other, 5, into);
            ASSERT_TRUE(rank.collectives.barrier());
            Request* const sent = post.send(other, 5, mine);
            EXPECT_EQ(post.messages.wait(early).value().bytes, bytes);
            post.wait(sent);
            EXPECT_TRUE(into == theirs) << bytes;

            Request* const later = post.send(other, 6, mine);
            ASSERT_TRUE(rank.collectives.barrier());
            post.expect(other, 6, theirs);
            post.wait(later);
        }
        ASSERT_TRUE(rank.collectives.barrier()); // the other rank has also received the last fragment
        EXPECT_EQ(post.messages.usage().slots, 0);
        EXPECT_EQ(post.messages.usage().arrivals, 0U);
    });
}

TEST_P(MessageWays, ProcessesReachEachOthersMemory) {
    if (tests::over_network()) GTEST_SKIP() << "processes of one host";
    run_ranks_as_processes({}, [](Rank& rank) {
        Post post(rank, GetParam().options);
        const int other = 1 - rank.rank();
        for (const std::size_t bytes : sizes) {
            const Bytes mine = pattern(bytes, rank.rank(), 2);
            Request* const sent = post.send(other, 1, mine);
            post.expect(other, 1, pattern(bytes, other, 2));
            post.wait(sent);
        }
        auto* const region = static_cast<std::byte*>(rank.collectives.allocate(1 << 20).value());
        for (int number = 0; number < 4; ++number) {
            const Bytes mine = pattern(300000, rank.rank(), number);
            std::memcpy(region, mine.data(), mine.size());
            Request* const sent = post.send(other, 1, {region, mine.size()});
            std::byte* const into = region + 400000;
            ASSERT_TRUE(post.receive(other, 1, {into, mine.size()}));
            post.wait(sent);
            EXPECT_TRUE(std::ranges::equal(std::span(into, mine.size()), pattern(300000, other, number)));
        }
    });
}

TEST(MessageTest, AMessageIsCutIntoFragmentsOfTheSetLength) {
    for (const auto& [bytes, fragments] : {std::pair<std::size_t, std::uint64_t>{8000, 2}, {4048, 1}, {4049, 2}})
        for (const Ways each : {Ways{}, Ways{false, false}}) {
            std::atomic<std::uint64_t> moved{0};
            run_ranks_as_threads({}, [&, bytes = bytes](Rank& rank) {
                Post post(rank, {4048, each});
                const Bytes data = pattern(bytes, 0, 0);
                if (rank.rank() == 0) post.send_and_wait(1, 0, data);
                else post.expect(0, 0, data);
                ASSERT_TRUE(rank.collectives.barrier());
                moved += post.messages.fragments();
            });
            EXPECT_EQ(moved, fragments) << "F21: " << bytes << " bytes in fragments of 4048";
        }
}

TEST(MessageTest, TuningIsForLongMessages) {
    for (const auto& [bytes, fragments] : {std::pair<std::size_t, std::uint64_t>{8000, 1}, {400000, 20}}) {
        std::atomic<std::uint64_t> moved{0};
        run_ranks_as_threads({}, [&, bytes = bytes](Rank& rank) {
            Post post(rank, {0, {}, 20000, 20000});
            const Bytes data = pattern(bytes, 0, 0);
            if (rank.rank() == 0) post.send_and_wait(1, 0, data);
            else post.expect(0, 0, data);
            ASSERT_TRUE(rank.collectives.barrier());
            moved += post.messages.fragments();
        });
        EXPECT_EQ(moved, fragments) << bytes;
    }
}

TEST(MessageTest, AMessageThatIsTooLongIsAnErrorWithBothLengths) {
    for (const std::size_t bytes : {10, 1000, 100000}) {
        run_ranks_as_threads({}, [bytes](Rank& rank) {
            Post post(rank);
            if (rank.rank() == 0) {
                post.send_and_wait(1, 3, Bytes(bytes));
                post.send_and_wait(1, 3, pattern(100, 0, 0));
            } else {
                Bytes into(9);
                const auto status = post.receive(0, 3, into);
                ASSERT_FALSE(status);
                EXPECT_NE(status.error().message.find(std::to_string(bytes) + " bytes"), std::string::npos);
                EXPECT_NE(status.error().message.find("takes 9"), std::string::npos) << status.error().message;
                post.expect(0, 3, pattern(100, 0, 0)); // the job continues
            }
        });
    }
}

TEST(MessageTest, ARankSendsToItself) {
    run_ranks_as_threads({.ranks = 2}, [](Rank& rank) {
        Post post(rank);
        for (const std::size_t bytes : sizes) {
            const Bytes data = pattern(bytes, rank.rank(), 0);
            Request* const sent = post.send(rank.rank(), 1, data);
            post.expect(any, any, data);
            post.wait(sent);
        }
    });
}

TEST(MessageTest, WhoProbesLearnsTheLengthAndTheMessageStays) {
    run_ranks_as_threads({}, [](Rank& rank) {
        Post post(rank);
        EXPECT_FALSE(post.messages.probe(any, 9));
        if (rank.rank() == 0)
            for (const std::size_t bytes : {3, 3000, 300000}) post.send_and_wait(1, 4, pattern(bytes, 0, 0));
        else
            for (const std::size_t bytes : {3, 3000, 300000}) {
                const Status status = post.messages.wait_probe(any, any);
                EXPECT_EQ(status.source, 0);
                EXPECT_EQ(status.tag, 4);
                ASSERT_EQ(status.bytes, bytes);
                EXPECT_EQ(post.messages.probe(0, 4).value().bytes, bytes);
                post.expect(0, 4, pattern(bytes, 0, 0));
            }
    });
}

// All sends come before any receive, in both directions, more than rings, areas and credits hold, and the receiver
// takes them in another order.
TEST(MessageTest, BothFloodEachOtherAndReceiveInAnotherOrder) {
    const Watchdog watchdog("flood of messages");
    for (const std::size_t bytes : {8, 2000, 70000}) {
        const int each = bytes == 8 ? 3000 : 100;
        for (const WaitPolicy wait : {WaitPolicy::adaptive, WaitPolicy::sleep})
            run_ranks_as_threads({.wait = wait}, [&](Rank& rank) {
                Post post(rank);
                const int other = 1 - rank.rank();
                std::vector<Bytes> data;
                std::vector<Request*> sent;
                for (int number = 0; number < each; ++number) {
                    data.push_back(pattern(bytes, rank.rank(), number));
                    sent.push_back(post.send(other, number % 3, data.back()));
                }
                for (int tag = 2; tag >= 0; --tag)
                    for (int number = tag; number < each; number += 3)
                        post.expect(other, tag, pattern(bytes, other, number));
                for (Request* request : sent) post.wait(request);
                EXPECT_EQ(post.messages.usage().arrivals, 0U);
            });
    }
}

// The same by ranks that wait for each of their sends: a short one is complete at once, also where there is no room.
TEST(MessageTest, ShortMessagesAreCompleteAtOnce) {
    const Watchdog watchdog("short messages beyond all room");
    for (const int hosts : {1, 2})
        for (const bool crowded : {false, true})
            for (const std::size_t bytes : {0, 100, 8192})
                run_ranks_as_threads({.hosts = hosts, .crowded = crowded}, [&](Rank& rank) {
                    const int each = bytes < 200 ? 3000 : 300, other = 1 - rank.rank();
                    Post post(rank);
                    for (int number = 0; number < each; ++number) {
                        const Bytes data = pattern(bytes, rank.rank(), number); // ends before the message has gone
                        ASSERT_EQ(post.send(other, number % 2, data), nullptr) << number << " of " << bytes << " bytes";
                    }
                    for (const int tag : {1, 0})
                        for (int number = tag; number < each; number += 2)
                            post.expect(other, tag, pattern(bytes, other, number));
                    ASSERT_TRUE(rank.collectives.barrier());
                    EXPECT_EQ(post.messages.usage().arrivals, 0U);
                });
}

// What waits for room leaves when there is some, though its sender does not call the library.
TEST(MessageTest, ShortMessagesLeaveWhileTheirSenderComputes) {
    const Watchdog watchdog("short messages of a sender that computes");
    std::atomic<bool> received{false};
    run_ranks_as_threads({}, [&received](Rank& rank) {
        Post post(rank);
        constexpr int each = 3000;
        if (rank.rank() == 0) {
            for (int number = 0; number < each; ++number) ASSERT_EQ(post.send(1, 0, pattern(100, 0, number)), nullptr);
            while (!received) std::this_thread::yield();
        } else {
            for (int number = 0; number < each; ++number) post.expect(0, 0, pattern(100, 0, number));
            received = true;
        }
    });
}

// As in containers that each begin to count their processes: the number of the other rank is that of this one.
TEST(MessageTest, ProcessesOfOtherNamespacesAreNotMistaken) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer cannot follow the threads of forked processes; it checks ranks that are threads";
#endif
    const Watchdog watchdog("messages between namespaces of processes");
    run_ranks_as_processes({}, [](Rank& rank) {
        const int other = 1 - rank.rank();
        const auto theirs = rank.fabric.memory().block(other).process.load();
        ASSERT_TRUE(rank.collectives.barrier());
        rank.fabric.memory().own().process = theirs;
        rank.fabric.memory().own().process_namespace = static_cast<std::uint64_t>(rank.rank()) + 1;
        Post post(rank);
        const Bytes data = pattern(100000, rank.rank(), 0);
        Request* const sent = post.send(other, 0, data);
        post.expect(other, 0, pattern(100000, other, 0));
        post.wait(sent);
    });
}

TEST(MessageTest, WaitAnyReturnsWhatIsComplete) {
    run_ranks_as_threads({}, [](Rank& rank) {
        Post post(rank);
        if (rank.rank() == 0) {
            ASSERT_TRUE(rank.collectives.barrier());
            post.send_and_wait(1, 2, pattern(20, 0, 2));
            ASSERT_TRUE(rank.collectives.barrier());
            post.send_and_wait(1, 1, pattern(20, 0, 1));
        } else {
            Bytes one(20), two(20);
            std::vector<Request*> requests{nullptr, &post.messages.receive(0, 1, one),
                                           &post.messages.receive(0, 2, two)};
            EXPECT_FALSE(post.messages.test(*requests[1]));
            ASSERT_TRUE(rank.collectives.barrier());
            EXPECT_EQ(post.messages.wait_any(requests), 2U);
            EXPECT_TRUE(post.messages.wait(*requests[2]));
            ASSERT_TRUE(rank.collectives.barrier());
            requests[2] = nullptr;
            EXPECT_EQ(post.messages.wait_any(requests), 1U);
            EXPECT_TRUE(post.messages.test(*requests[1]));
            EXPECT_TRUE(one == pattern(20, 0, 1) && two == pattern(20, 0, 2));
        }
    });
}

// F24: messages arrive while the receiver computes and has not posted a receive.
TEST(MessageTest, TheSenderIsDoneWhileTheReceiverComputes) {
    std::atomic<bool> sent{false};
    run_ranks_as_threads({}, [&](Rank& rank) {
        Post post(rank);
        if (rank.rank() == 0) {
            for (int number = 0; number < 8; ++number) {
                EXPECT_EQ(post.send(1, 0, pattern(10, 0, number)), nullptr);
                EXPECT_EQ(post.send(1, 1, pattern(5000, 0, number)), nullptr);
            }
            sent = true;
        } else {
            while (!sent) tests::compute_for(std::chrono::microseconds(1));
            for (int number = 0; number < 8; ++number) {
                post.expect(0, 1, pattern(5000, 0, number));
                post.expect(0, 0, pattern(10, 0, number));
            }
        }
    });
}

} // namespace
} // namespace kumiki::message
