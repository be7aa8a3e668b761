// Random messages, compared with a sequential model of matching; and large numbers of them, after which nothing must be
// in use.
#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>

#include "message/messages.hpp"
#include "support/build.hpp"
#include "support/pattern.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::message {
namespace {

using tests::Random;
using tests::Rank;
using tests::run_ranks_as_threads;
using tests::Watchdog;

using Bytes = std::vector<std::byte>;

constexpr int tags = 3;
constexpr std::size_t longest = 3 << 20;

/// Lengths that cover all paths: empty, in one cell or two, in a short or long slot, longer; now and then some MB.
std::size_t random_length(Random& random) {
    if (random.once_in(200)) return random.between<std::size_t>(1 << 20, longest);
    if (random.once_in(8)) return random.between<std::size_t>(8193, 200000);
    return random.once_in(2) ? random.between<std::size_t>(0, 120) : random.between<std::size_t>(0, 9000);
}

/// The data begin with the number of the message and follow from it.
Bytes message(std::uint64_t number, std::size_t bytes) {
    Bytes made = tests::pattern(std::max(bytes, sizeof number), number);
    std::memcpy(made.data(), &number, sizeof number);
    return made;
}
std::uint64_t number_of(const Bytes& data) {
    std::uint64_t number = 0;
    std::memcpy(&number, data.data(), sizeof number);
    return number;
}

struct Shape {
    int ranks, threads;
    WaitPolicy wait;
    bool crowded;
    Messages::Options options;
};

class MessageStress : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MessageStress,
                         testing::Values(Shape{1, 1, WaitPolicy::adaptive, false, {}},
                                         Shape{2, 1, WaitPolicy::adaptive, false, {}},
                                         Shape{2, 2, WaitPolicy::sleep, false, {}},
                                         Shape{3, 2, WaitPolicy::adaptive, true, {}},
                                         Shape{3, 1, WaitPolicy::sleep, false, {223, {}}},
                                         Shape{2, 2, WaitPolicy::adaptive, false, {0, {false, false}}}));

/// The model: the messages that have been sent from rank to rank with a tag. Each thread of a rank has its own tags, so
/// that it knows what must come next.
struct Sent {
    std::uint64_t number;
    std::size_t bytes;
};
using Queue = std::deque<Sent>;

// Each thread of each rank sends and receives at random, by source and tag or any of them; for each source and tag the
// messages arrive in the order sent.
TEST_P(MessageStress, EveryReceiveGetsWhatTheModelSays) {
    const auto& [ranks, threads, wait, crowded, options] = GetParam();
    const Watchdog watchdog("random messages");
    const auto rounds = static_cast<int>(tests::rounds(400) + 10);
    // By source, target and tag.
    std::mutex mutex;
    std::map<std::array<int, 3>, Queue> model;
    run_ranks_as_threads({.ranks = ranks, .crowded = crowded, .wait = wait},
                         [&, ranks = ranks, threads = threads](Rank& rank) {
                             Messages messages(rank.fabric, GetParam().options);
                             EXPECT_TRUE(messages.start_agent());
                             ASSERT_TRUE(rank.collectives.barrier());
                             // Waits for no receive before all is sent, so a message comes for each receive.
                             const auto send = [&](int thread) {
                                 Random random(static_cast<std::uint64_t>(rank.rank() * 100 + thread));
                                 std::deque<Bytes> data;
                                 std::vector<Request*> sends;
                                 for (int i = 0; i < rounds * ranks; ++i) {
                                     const int target = i % ranks, tag = thread * tags + random.between(0, tags - 1);
                                     const std::uint64_t number = random.word();
                                     data.push_back(message(number, random_length(random)));
                                     {
                                         const std::lock_guard lock(mutex);
                                         model[{rank.rank(), target, tag}].push_back({number, data.back().size()});
                                     }
                                     sends.push_back(messages.send(target, tag, data.back()).value());
                                 }
                                 for (Request* each : sends) EXPECT_TRUE(each == nullptr || messages.wait(*each));
                             };
                             // By any source or any tag only if no other thread can take the message: in a rank of one
                             // thread.
                             const auto receive = [&](int thread, Random& random, int source, Bytes& into) {
                                 const bool alone = threads == 1;
                                 if (alone && random.once_in(2)) source = any;
                                 if (alone && random.once_in(2)) {
                                     into.resize(longest);
                                     return messages.wait(messages.receive(source, any, into));
                                 }
                                 const auto find = [&] {
                                     if (alone) return messages.wait_probe(source, any);
                                     for (;;)
                                         for (int tag = thread * tags; tag < (thread + 1) * tags; ++tag)
                                             if (const auto found = messages.probe(source, tag)) return *found;
                                 };
                                 const Status coming = find();
                                 into.resize(coming.bytes + random.between<std::size_t>(0, 5));
                                 return messages.wait(messages.receive(coming.source, coming.tag, into));
                             };
                             const auto work = [&](int thread) {
                                 std::thread sender(send, thread);
                                 Random random(static_cast<std::uint64_t>(rank.rank() * 100 + thread + 50));
                                 std::vector<int> left(static_cast<std::size_t>(ranks), rounds); // to come, by source
                                 Bytes into;
                                 for (int i = 0; i < rounds * ranks; ++i) {
                                     int source = random.between(0, ranks - 1);
                                     while (left[static_cast<std::size_t>(source)] == 0) source = (source + 1) % ranks;
                                     const auto got = receive(thread, random, source, into);
                                     EXPECT_TRUE(got) << got.error().message;
                                     --left[static_cast<std::size_t>(got->source)];
                                     into.resize(got->bytes);
                                     Sent expected{};
                                     {
                                         const std::lock_guard lock(mutex);
                                         Queue& queue = model[{got->source, rank.rank(), got->tag}];
                                         expected = queue.front();
                                         queue.pop_front();
                                     }
                                     EXPECT_EQ(number_of(into), expected.number) << "order of a pair and tag";
                                     EXPECT_TRUE(tests::same_bytes(into, message(expected.number, expected.bytes)));
                                 }
                                 sender.join();
                             };
                             std::vector<std::thread> others;
                             for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
                             work(0);
                             for (auto& each : others) each.join();
                             ASSERT_TRUE(rank.collectives.barrier());
                             EXPECT_EQ(messages.usage().slots, 0);
                             EXPECT_EQ(messages.usage().arrivals, 0U);
                             ASSERT_TRUE(rank.collectives.barrier());
                         });
}

/// From nothing to 100 MB, with equal probability for each order of magnitude.
std::size_t any_length(Random& random) {
    const std::size_t magnitude = std::size_t{1} << random.between(0, 26);
    return std::min<std::size_t>(random.between<std::size_t>(magnitude - 1, 2 * magnitude), 100'000'000);
}

// Both sides send while both receive: messages on different paths overtake each other, but not messages with the same
// tag.
TEST(MessageStress, LengthsUpTo100MBKeepTheirOrder) {
    const Watchdog watchdog("messages of up to 100 MB");
    const std::size_t all = std::max<std::size_t>(tests::rounds(40), 4);
    run_ranks_as_threads({}, [all](Rank& rank) {
        Messages messages(rank.fabric, {});
        EXPECT_TRUE(messages.start_agent());
        ASSERT_TRUE(rank.collectives.barrier());
        // The lengths that a rank sends, in order; the other rank knows them, too.
        const auto lengths = [all](int sender) {
            Random random(static_cast<std::uint64_t>(sender) + 1);
            std::vector<std::size_t> made(all);
            for (std::size_t& each : made) each = std::max(any_length(random), sizeof(std::uint64_t));
            made[all / 2] = 100'000'000;
            return made;
        };
        const int other = 1 - rank.rank();
        std::thread sender([&] {
            const auto bytes = lengths(rank.rank());
            for (std::size_t number = 0; number < all; ++number) {
                const Bytes data = message(number, bytes[number]);
                Request* const sent = messages.send(other, static_cast<int>(number % tags), data).value();
                if (sent != nullptr) {
                    EXPECT_TRUE(messages.wait(*sent));
                }
            }
        });
        const auto expected = lengths(other);
        std::array<std::uint64_t, tags> next{0, 1, 2}; // by tag: the number of its next message
        for (std::size_t i = 0; i < all; ++i) {
            const Status coming = messages.wait_probe(any, any);
            Bytes into(coming.bytes);
            EXPECT_TRUE(messages.wait(messages.receive(any, coming.tag, into)));
            const std::uint64_t number = std::exchange(next[static_cast<std::size_t>(coming.tag)],
                                                       next[static_cast<std::size_t>(coming.tag)] + tags);
            EXPECT_TRUE(tests::same_bytes(into, message(number, expected[number]))) << "message " << number;
        }
        sender.join();
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

// F25: the counters of the areas are zero again after very many messages, only a few of which fit into the areas at a
// time.
TEST(MessageStress, NothingIsInUseAfterVeryMany) {
    const Watchdog watchdog("very many messages");
    const std::size_t all = tests::rounds(1000000);
    run_ranks_as_threads({}, [all](Rank& rank) {
        Messages messages(rank.fabric, {});
        EXPECT_TRUE(messages.start_agent());
        ASSERT_TRUE(rank.collectives.barrier());
        constexpr std::size_t window = 64;
        std::vector<Bytes> rooms(window, Bytes(600));
        std::vector<Request*> requests(window);
        const auto ends = [&] {
            messages.wait_all(requests, [](std::size_t, const Result<Status>& each) { EXPECT_TRUE(each); });
        };
        Random random(1); // the same at both ranks
        for (std::size_t done = 0; done < all; done += window) {
            const std::size_t bytes = random.between<std::size_t>(0, 600);
            const int sender = static_cast<int>(done / window % 2);
            for (std::size_t i = 0; i < window; ++i)
                requests[i] = rank.rank() == sender
                                  ? messages.send(1 - sender, 0, std::span(rooms[i]).first(bytes)).value()
                                  : &messages.receive(sender, 0, rooms[i]);
            ends();
        }
        ASSERT_TRUE(rank.collectives.barrier());
        EXPECT_EQ(messages.usage().slots, 0);
        EXPECT_EQ(messages.usage().arrivals, 0U);
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

} // namespace
} // namespace kumiki::message
