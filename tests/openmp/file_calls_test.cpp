#include "openmp/ranks/process/file_calls.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <random>
#include <thread>

#include "support/ranks.hpp"

namespace kumiki::openmp {
namespace {

/// What a rank answers to a request: other data and results for each, and errors for some.
FileCalls::Answer answer_of(int rank, const FileCalls::Request& request) {
    if (request.bytes % 7 == 0) return {.result = -1, .error = rank + 1};
    FileCalls::Answer answer{.result = static_cast<std::int64_t>(request.bytes) + request.offset};
    for (std::uint64_t i = 0; i < request.bytes; ++i)
        answer.data.push_back(static_cast<char>(i * 7 + static_cast<std::uint64_t>(request.file) + i / 256));
    return answer;
}

void call_others(const tests::Rank& me, FileCalls& calls, unsigned seed) {
    constexpr int calls_of_each = 300;
    std::mt19937 random(seed);
    for (int i = 0; i < calls_of_each; ++i) {
        const int owner = (me.rank() + 1 + static_cast<int>(random()) % (me.size() - 1) + me.size()) % me.size();
        if (owner == me.rank()) continue;
        const FileCalls::Request request{
            .file = static_cast<std::int64_t>(random() % 1000), .offset = i, .bytes = random() % 3000};
        const auto found = calls.make(owner, request), expected = answer_of(owner, request);
        ASSERT_EQ(found.result, expected.result);
        ASSERT_EQ(found.error, expected.error);
        ASSERT_EQ(found.data, expected.data);
    }
}

TEST(FileCalls, OfManyThreadsGetTheirAnswers) {
    tests::run_ranks_as_threads({.ranks = 3}, [](tests::Rank& me) {
        int looks = 0;
        FileCalls calls(me.fabric, [&](int rank, const FileCalls::Request& request) {
            EXPECT_NE(rank, me.rank());
            const bool is_in_use = ++looks % 5 < 2;
            return is_in_use ? std::nullopt : std::optional(answer_of(me.rank(), request));
        });
        ASSERT_TRUE(calls.begin(me.collectives));
        {
            const auto seed = static_cast<unsigned>(me.rank()) * 2;
            const std::jthread other([&] { call_others(me, calls, seed + 1); });
            call_others(me, calls, seed);
        }
        ASSERT_TRUE(me.collectives.barrier());
        calls.end();
        EXPECT_EQ(calls.make((me.rank() + 1) % me.size(), {}).error, EBADF);
    });
}

} // namespace
} // namespace kumiki::openmp
