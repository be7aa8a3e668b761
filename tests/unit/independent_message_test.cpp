// Long messages between ranks of one host do not wait for a receiver that computes (F23, F24).
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "message/messages.hpp"
#include "support/build.hpp"
#include "support/pattern.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

using message::Messages;
using message::Request;
using Bytes = std::vector<std::byte>;

constexpr std::size_t lengths[] = {9000, 40'000, 1'000'000, 8'000'000};

/// A word that both ranks can access without a call of the library: while a rank looks at it, it computes.
class Word {
public:
    explicit Word(Rank& rank) : own_(static_cast<std::uint64_t*>(rank.collectives.allocate(8).value())), rank_(rank) {}

    void set(std::uint64_t value) { at(1 - rank_.rank()).store(value); }
    bool is_set() { return at(rank_.rank()).load() != 0; }
    /// Returns when it is at least `value`.
    void compute_until(std::uint64_t value) {
        while (at(rank_.rank()).load() < value) std::this_thread::yield();
    }

private:
    std::atomic_ref<std::uint64_t> at(int rank) {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(rank_.fabric.memory().translate(rank, own_, 8)));
    }
    std::uint64_t* own_;
    Rank& rank_;
};

void wait(Messages& messages, Request* request) {
    if (request == nullptr) return;
    const auto ended = messages.wait(*request);
    EXPECT_TRUE(ended) << ended.error().message;
}

Messages::Options with_reserve(std::size_t bytes) {
    Messages::Options options;
    options.reserve = bytes;
    return options;
}

using Body = std::function<void(Rank&, Messages&, Word&)>;

/// Runs the test with the ranks as threads, which share their memory, and as processes.
class IndependentMessages : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        if (tests::over_network()) GTEST_SKIP() << "ranks of one host";
#ifdef __SANITIZE_THREAD__
        if (GetParam())
            GTEST_SKIP() << "ThreadSanitizer cannot follow the threads of forked processes; it checks ranks that are "
                            "threads";
#endif
    }
    static void run(const Messages::Options& options, const JobOptions& job, const Body& body) {
        const Watchdog watchdog("a message to a rank that computes");
        (GetParam() ? run_ranks_as_processes : run_ranks_as_threads)(job, [&](Rank& rank) {
            Messages messages(rank.fabric, options);
            ASSERT_TRUE(messages.start_agent());
            Word word(rank);
            ASSERT_TRUE(rank.collectives.barrier());
            body(rank, messages, word);
            ASSERT_TRUE(rank.collectives.barrier());
            EXPECT_EQ(messages.usage().arrivals, 0U);
        });
    }
};
INSTANTIATE_TEST_SUITE_P(Ranks, IndependentMessages, testing::Bool(),
                         [](const auto& how) { return how.param ? "processes" : "threads"; });

TEST_P(IndependentMessages, arrive_in_a_receive_that_is_posted) {
    for (const bool crowded : {false, true})
        run(with_reserve(0), {.ranks = 2, .hosts = 1, .crowded = crowded},
            [](Rank& rank, Messages& messages, Word& word) {
                for (std::size_t round = 1; round <= std::size(lengths); ++round) {
                    const Bytes data = pattern(lengths[round - 1], round);
                    Bytes into(data.size());
                    if (rank.rank() == 0) {
                        word.compute_until(round); // the receive is posted
                        wait(messages, messages.send(1, 3, data).value());
                        word.set(round);
                        continue;
                    }
                    Request& receive = messages.receive(0, 3, into);
                    word.set(round);
                    word.compute_until(round); // the send is complete
                    wait(messages, &receive);
                    EXPECT_TRUE(tests::same_bytes(into, data)) << data.size();
                }
            });
}

TEST_P(IndependentMessages, wait_in_the_reserve_in_their_order) {
    run({}, {.ranks = 2, .hosts = 1}, [](Rank& rank, Messages& messages, Word& word) {
        for (std::size_t round = 1; round <= 8; ++round) { // together more than fits into the reserve
            std::vector<Bytes> data;
            for (const std::size_t bytes : lengths) data.push_back(pattern(bytes, round));
            if (rank.rank() == 0) {
                for (const Bytes& each : data) wait(messages, messages.send(1, 3, each).value());
                word.set(round);
                continue;
            }
            word.compute_until(round);
            for (const Bytes& each : data) {
                Bytes into(each.size());
                wait(messages, &messages.receive(0, 3, into));
                EXPECT_TRUE(tests::same_bytes(into, each)) << each.size();
            }
        }
    });
}

TEST_P(IndependentMessages, stay_at_the_sender_without_room_in_the_reserve) {
    for (const std::size_t reserve : {std::size_t{0}, std::size_t{999'999}})
        run(with_reserve(reserve), {.ranks = 2, .hosts = 1}, [](Rank& rank, Messages& messages, Word& word) {
            using namespace std::chrono_literals;
            const Bytes data = pattern(1'000'000, 1);
            if (rank.rank() == 0) {
                wait(messages, messages.send(1, 3, data).value());
                EXPECT_TRUE(word.is_set()) << "the send was complete before its receive was posted";
                word.set(1);
                return;
            }
            std::this_thread::sleep_for(100ms);
            Bytes into(data.size());
            word.set(1);
            wait(messages, &messages.receive(0, 3, into));
            EXPECT_TRUE(tests::same_bytes(into, data));
            word.compute_until(1);
        });
}

TEST_P(IndependentMessages, that_are_too_long_return_their_part_of_the_reserve) {
    run(with_reserve(1'000'000), {.ranks = 2, .hosts = 1}, [](Rank& rank, Messages& messages, Word& word) {
        const Bytes data = pattern(1'000'000, 1);
        for (std::uint64_t round = 1; round <= 5; ++round) {
            if (rank.rank() == 0) {
                wait(messages, messages.send(1, 3, data).value());
                word.set(round);
                continue;
            }
            word.compute_until(round);
            Bytes into(1000);
            const auto ended = messages.wait(messages.receive(0, 3, into));
            ASSERT_FALSE(ended);
            EXPECT_NE(ended.error().message.find("1000000 bytes"), std::string::npos) << ended.error().message;
        }
    });
}

} // namespace
} // namespace kumiki::tests
