// Puts and gets that do not wait, by themselves and mixed with messages.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "kumiki/kumiki.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

using Words = std::vector<std::uint64_t>;

Words words(std::size_t count, std::uint64_t first) {
    Words made(count);
    std::iota(made.begin(), made.end(), first);
    return made;
}

kumiki_request start_put(kumiki_job* job, int rank, std::uint64_t* there, const Words& source) {
    kumiki_request request = nullptr;
    EXPECT_EQ(kumiki_start_put(job, rank, there, source.data(), source.size() * 8, &request), KUMIKI_OK);
    return request;
}

kumiki_request start_get(kumiki_job* job, int rank, const std::uint64_t* there, Words& destination) {
    kumiki_request request = nullptr;
    EXPECT_EQ(kumiki_start_get(job, rank, there, destination.data(), destination.size() * 8, &request), KUMIKI_OK);
    return request;
}

std::uint64_t* allocate(kumiki_job* job, std::size_t count) {
    void* region = nullptr;
    EXPECT_EQ(kumiki_allocate(job, count * 8, &region), KUMIKI_OK);
    return static_cast<std::uint64_t*>(region);
}

TEST(StartedTransfers, are_complete_when_they_have_been_waited_for) {
    const Watchdog watchdog("puts and gets that were started");
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        // One word, one part, several parts of the network.
        for (const std::size_t count : {std::size_t{1}, std::size_t{5000}, std::size_t{200'000}}) {
            std::uint64_t* const there = allocate(job, count);
            const int other = 1 - kumiki_rank(job);
            const Words mine = words(count, 1000 * static_cast<std::uint64_t>(kumiki_rank(job)));
            kumiki_request request = start_put(job, other, there, mine);
            kumiki_message_status status{};
            const bool is_open = request != nullptr;
            ASSERT_EQ(kumiki_wait(job, &request, &status), KUMIKI_OK);
            EXPECT_EQ(request, nullptr);
            if (is_open) {
                EXPECT_EQ(status.source, other);
                EXPECT_EQ(status.bytes, count * 8);
            }
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            const Words theirs = words(count, 1000 * static_cast<std::uint64_t>(other));
            EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), there)) << count;

            Words back(count);
            request = start_get(job, other, there, back);
            ASSERT_EQ(kumiki_wait(job, &request, nullptr), KUMIKI_OK);
            EXPECT_EQ(back, mine) << count;
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            ASSERT_EQ(kumiki_release(job, there), KUMIKI_OK);
        }
    });
}

TEST(StartedTransfers, come_before_what_is_sent_after_they_were_waited_for) {
    const Watchdog watchdog("the order of a started put and a signal");
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        constexpr std::size_t count = 40'000;
        std::uint64_t* const there = allocate(job, count + 8);
        std::uint64_t* const signal = there + count;
        for (std::uint64_t round = 1; round <= 50; ++round) {
            if (kumiki_rank(job) == 0) {
                const Words mine(count, round);
                kumiki_request request = start_put(job, 1, there, mine);
                ASSERT_EQ(kumiki_wait(job, &request, nullptr), KUMIKI_OK);
                ASSERT_EQ(kumiki_signal(job, 1, signal, KUMIKI_SIGNAL_SET, round), KUMIKI_OK);
                ASSERT_EQ(kumiki_signal_wait(job, signal, KUMIKI_EQUAL, round, nullptr), KUMIKI_OK);
            } else {
                ASSERT_EQ(kumiki_signal_wait(job, signal, KUMIKI_EQUAL, round, nullptr), KUMIKI_OK);
                EXPECT_EQ(std::count(there, there + count, round), std::ptrdiff_t{count}) << round;
                ASSERT_EQ(kumiki_signal(job, 0, signal, KUMIKI_SIGNAL_SET, round), KUMIKI_OK);
            }
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

TEST(StartedTransfers, go_on_while_the_program_computes) {
    const Watchdog watchdog("a started transfer of a rank that computes");
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        constexpr std::size_t count = 300'000;
        std::uint64_t* const there = allocate(job, count);
        std::iota(there, there + count, 7u);
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        if (kumiki_rank(job) == 0) {
            Words back(count);
            kumiki_request request = start_get(job, 1, there, back);
            // The agents move the data. To look at memory that is still being written would be a race, so the program
            // waits only for the end of the request.
            int complete = request == nullptr ? 1 : 0;
            for (int look = 0; look < 10'000 && complete == 0; ++look) {
                compute_for(std::chrono::milliseconds(1));
                ASSERT_EQ(kumiki_test(job, &request, &complete, nullptr), KUMIKI_OK);
            }
            EXPECT_EQ(complete, 1);
            EXPECT_EQ(back, words(count, 7));
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

/// A get or a message that is under way and will bring the numbers from `first` on.
struct UnderWay {
    Words sent, received;
    std::uint64_t first = 0;
};

TEST(StartedTransfers, mix_with_messages) {
    const Watchdog watchdog("puts, gets and messages under way at once");
    constexpr int ranks = 4, rounds = 12, transfers = 24;
    constexpr std::size_t longest = 30'000;
    run_jobs_as_threads({.ranks = ranks}, [](kumiki_job* job) {
        const int me = kumiki_rank(job);
        // Each rank has a place of `longest` words at every rank, and a source from which the others get.
        std::uint64_t* const places = allocate(job, ranks * longest);
        std::uint64_t* const source = allocate(job, longest);
        std::iota(source, source + longest, static_cast<std::uint64_t>(me) << 32);
        Random random(17); // the same at every rank: what one rank sends, the next one expects
        for (int round = 0; round < rounds; ++round) {
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            std::vector<UnderWay> all(transfers);
            std::vector<kumiki_request> requests;
            std::vector<Words> put(ranks);
            for (int rank = 0; rank < ranks; ++rank) {
                auto& mine = put[static_cast<std::size_t>(rank)];
                mine = words(random.between<std::size_t>(1, longest), static_cast<std::uint64_t>(round * 100 + me));
                requests.push_back(start_put(job, rank, places + static_cast<std::size_t>(me) * longest, mine));
            }
            for (UnderWay& each : all) {
                const auto count = random.between<std::size_t>(1, longest);
                each.received.resize(count);
                each.first = random.between<std::uint64_t>(0, longest - count);
                if (random.once_in(2)) {
                    const int rank = random.between(0, ranks - 1);
                    requests.push_back(start_get(job, rank, source + each.first, each.received));
                    each.first += static_cast<std::uint64_t>(rank) << 32;
                } else {
                    each.sent = words(count, each.first);
                    const int tag = static_cast<int>(&each - all.data());
                    kumiki_request receive = nullptr, send = nullptr;
                    ASSERT_EQ(
                        kumiki_receive(job, (me + ranks - 1) % ranks, tag, each.received.data(), count * 8, &receive),
                        KUMIKI_OK);
                    ASSERT_EQ(kumiki_send(job, (me + 1) % ranks, tag, each.sent.data(), count * 8, &send), KUMIKI_OK);
                    requests.push_back(receive);
                    requests.push_back(send);
                }
            }
            ASSERT_EQ(kumiki_wait_all(job, requests.data(), requests.size(), nullptr), KUMIKI_OK);
            for (const UnderWay& each : all) EXPECT_EQ(each.received, words(each.received.size(), each.first));
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            for (std::size_t rank = 0; rank < ranks; ++rank)
                EXPECT_EQ(places[rank * longest], static_cast<std::uint64_t>(round * 100) + rank);
        }
    });
}

TEST(StartedTransfers, EachHasAStatusWhenAllAreComplete) {
    run_programs({}, [](int) {
        Job whole;
        kumiki_job* const job = whole.handle();
        const int me = kumiki_rank(job);
        const std::uint64_t word = 7;
        std::uint64_t got = 0, too_short = 0;
        kumiki_request requests[3] = {};
        ASSERT_EQ(kumiki_receive(job, me, 1, &too_short, 4, &requests[0]), KUMIKI_OK);
        ASSERT_EQ(kumiki_receive(job, me, 2, &got, 8, &requests[1]), KUMIKI_OK);
        for (const int tag : {1, 2}) ASSERT_EQ(kumiki_send(job, me, tag, &word, 8, &requests[2]), KUMIKI_OK);
        ASSERT_EQ(requests[2], nullptr); // it is complete at once
        kumiki_message_status statuses[3];
        for (auto& each : statuses) each = {99, 99, 99};
        EXPECT_NE(kumiki_wait_all(job, requests, 3, statuses), KUMIKI_OK); // one is too short
        EXPECT_EQ(statuses[1].source, me);
        EXPECT_EQ(statuses[1].tag, 2);
        for (const int place : {0, 2}) {
            EXPECT_EQ(statuses[place].source, KUMIKI_ANY) << place;
            EXPECT_EQ(statuses[place].bytes, 0U) << place;
        }
    });
}

} // namespace
} // namespace kumiki::tests
