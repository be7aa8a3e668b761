// Every wrong address, rank and value through the C interface causes an error that names the values.
#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>

#include "platform/memory.hpp"
#include "support/build.hpp"
#include "support/jobs.hpp"

namespace kumiki::tests {
namespace {

/// Runs `body` on one rank of two with a region of 100 bytes, while the other waits at the end.
void with_region(const std::function<void(kumiki_job*, std::byte*)>& body) {
    run_jobs_as_threads({.ranks = 2}, [&](kumiki_job* job) {
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 100, &region), KUMIKI_OK);
        if (kumiki_rank(job) == 0) body(job, static_cast<std::byte*>(region));
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK) << "the job is usable";
        ASSERT_EQ(kumiki_release(job, region), KUMIKI_OK);
    });
}

std::string text(const void* address) { return fmt::format("{}", address); }

/// An operation on `bytes` at `there` of rank `rank`.
struct Operation {
    const char* name;
    kumiki_status (*call)(kumiki_job*, int rank, std::byte* there, std::size_t bytes);
};

std::array<std::byte, 4096> buffer;
std::uint64_t* word(std::byte* there) { return reinterpret_cast<std::uint64_t*>(there); }

const Operation on_bytes[] = {
    {"put", [](kumiki_job* job, int rank, std::byte* there,
               std::size_t bytes) { return kumiki_put(job, rank, there, buffer.data(), bytes); }},
    {"get", [](kumiki_job* job, int rank, std::byte* there,
               std::size_t bytes) { return kumiki_get(job, rank, there, buffer.data(), bytes); }},
    {"start_put",
     [](kumiki_job* job, int rank, std::byte* there, std::size_t bytes) {
         kumiki_request request = nullptr;
         return kumiki_start_put(job, rank, there, buffer.data(), bytes, &request);
     }},
    {"start_get",
     [](kumiki_job* job, int rank, std::byte* there, std::size_t bytes) {
         kumiki_request request = nullptr;
         return kumiki_start_get(job, rank, there, buffer.data(), bytes, &request);
     }},
};
const Operation on_words[] = {
    {"signal", [](kumiki_job* job, int rank, std::byte* there,
                  std::size_t) { return kumiki_signal(job, rank, word(there), KUMIKI_SIGNAL_ADD, 1); }},
    {"put_signal",
     [](kumiki_job* job, int rank, std::byte* there, std::size_t) {
         return kumiki_put_signal(job, rank, there, buffer.data(), 0, word(there), KUMIKI_SIGNAL_SET, 1);
     }},
    {"fetch_add", [](kumiki_job* job, int rank, std::byte* there,
                     std::size_t) { return kumiki_fetch_add(job, rank, word(there), 1, nullptr); }},
    {"compare_swap", [](kumiki_job* job, int rank, std::byte* there,
                        std::size_t) { return kumiki_compare_swap(job, rank, word(there), 0, 1, nullptr); }},
    {"swap", [](kumiki_job* job, int rank, std::byte* there,
                std::size_t) { return kumiki_swap(job, rank, word(there), 1, nullptr); }},
};

TEST(MisuseTest, RanksThatDoNotExist) {
    with_region([](kumiki_job* job, std::byte* region) {
        constexpr int limits[] = {-1, 2, 3, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
        for (const int rank : limits) {
            const std::string sentence = fmt::format("no rank {}; the job has ranks 0 to 1", rank);
            for (const auto& operations : {std::span<const Operation>(on_bytes), std::span<const Operation>(on_words)})
                for (const Operation& operation : operations) {
                    SCOPED_TRACE(operation.name);
                    expect_error(operation.call(job, rank, region, 8), KUMIKI_ERROR_ARGUMENT,
                                 {std::string(operation.name) + ":", sentence});
                }
            for (const Operation& operation : on_bytes) // even if there is nothing to move
                expect_error(operation.call(job, rank, region, 0), KUMIKI_ERROR_ARGUMENT, {sentence});
            void* there = nullptr;
            expect_error(kumiki_peer(job, rank, region, &there), KUMIKI_ERROR_ARGUMENT, {"peer:", sentence});
        }
    });
}

TEST(MisuseTest, MemoryThatIsNotInARegion) {
    with_region([](kumiki_job* job, std::byte* region) {
        void* peer = nullptr;
        ASSERT_EQ(kumiki_peer(job, 1, region, &peer), KUMIKI_OK);
        // One past the end, the next granule, before the arena, another rank's copy (only the own address of the place
        // is valid), the stack.
        std::uint64_t local = 0;
        std::byte* const places[] = {region + 104,
                                     region + (64 << 10),
                                     region - 8,
                                     peer != nullptr ? static_cast<std::byte*>(peer) : region + 104,
                                     reinterpret_cast<std::byte*>(&local),
                                     reinterpret_cast<std::byte*>(8)};
        for (std::byte* const place : places) {
            for (const Operation& operation : on_bytes)
                for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}})
                    expect_error(operation.call(job, 1, place, bytes), KUMIKI_ERROR_REGION,
                                 {std::string(operation.name) + ":",
                                  fmt::format("{} bytes at {} (for rank 1)", bytes, text(place))});
            for (const Operation& operation : on_words)
                expect_error(operation.call(job, 1, place, 8), KUMIKI_ERROR_REGION,
                             {std::string(operation.name) + ":", text(place)});
            expect_error(kumiki_signal_wait(job, word(place), KUMIKI_EQUAL, 0, nullptr), KUMIKI_ERROR_REGION,
                         {"signal_wait:", text(place)});
            int satisfied = 0;
            expect_error(kumiki_signal_test(job, word(place), KUMIKI_EQUAL, 0, &satisfied, nullptr),
                         KUMIKI_ERROR_REGION, {"signal_test:", text(place)});
            expect_error(kumiki_peer(job, 1, place, &peer), KUMIKI_ERROR_REGION, {text(place)});
        }
        EXPECT_EQ(local, 0u);
    });
}

TEST(MisuseTest, TransfersThatReachOverTheEnd) {
    with_region([](kumiki_job* job, std::byte* region) {
        for (const Operation& operation : on_bytes) {
            EXPECT_EQ(operation.call(job, 1, region, 100), KUMIKI_OK) << "all of it";
            EXPECT_EQ(operation.call(job, 1, region + 99, 1), KUMIKI_OK) << "the last byte";
            EXPECT_EQ(operation.call(job, 1, region + 100, 0), KUMIKI_OK) << "nothing";
            EXPECT_EQ(operation.call(job, 1, nullptr, 0), KUMIKI_OK) << "nothing, nowhere";
            expect_error(operation.call(job, 1, region, 101), KUMIKI_ERROR_REGION,
                         {"101 bytes", text(region), "100 bytes", "0 to 101"});
            expect_error(operation.call(job, 1, region + 96, 8), KUMIKI_ERROR_REGION,
                         {"8 bytes", "100 bytes", "96 to 104"});
            expect_error(operation.call(job, 1, region + 8, SIZE_MAX), KUMIKI_ERROR_REGION, {std::to_string(SIZE_MAX)});
        }
        for (const Operation& operation : on_words) // 96 .. 104: the word is aligned, but its end is outside
            expect_error(operation.call(job, 1, region + 96, 8), KUMIKI_ERROR_REGION, {"96 to 104"});
    });
}

TEST(MisuseTest, NullAddresses) {
    with_region([](kumiki_job* job, std::byte* region) {
        for (const Operation& operation : on_bytes)
            expect_error(operation.call(job, 1, nullptr, 8), KUMIKI_ERROR_ARGUMENT, {"null"});
        for (const Operation& operation : on_words)
            expect_error(operation.call(job, 1, nullptr, 8), KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_error(kumiki_put(job, 1, region, nullptr, 8), KUMIKI_ERROR_ARGUMENT, {"put:", "null"});
        expect_error(kumiki_get(job, 1, region, nullptr, 8), KUMIKI_ERROR_ARGUMENT, {"get:", "null"});
        kumiki_request request = nullptr;
        expect_error(kumiki_start_put(job, 1, region, nullptr, 8, &request), KUMIKI_ERROR_ARGUMENT,
                     {"start_put:", "null"});
        expect_error(kumiki_start_get(job, 1, region, nullptr, 8, &request), KUMIKI_ERROR_ARGUMENT,
                     {"start_get:", "null"});
        expect_error(kumiki_start_put(job, 1, region, buffer.data(), 8, nullptr), KUMIKI_ERROR_ARGUMENT,
                     {"start_put:", "request", "null"});
        expect_error(kumiki_start_get(job, 1, region, buffer.data(), 8, nullptr), KUMIKI_ERROR_ARGUMENT,
                     {"start_get:", "request", "null"});
        expect_error(kumiki_put_signal(job, 1, region, nullptr, 8, word(region + 8), KUMIKI_SIGNAL_SET, 1),
                     KUMIKI_ERROR_ARGUMENT, {"put_signal:", "null"});
        expect_error(kumiki_signal_wait(job, nullptr, KUMIKI_EQUAL, 0, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_error(kumiki_peer(job, 1, region, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_error(kumiki_join(nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_error(kumiki_team_create(job, 1, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
    });
}

TEST(MisuseTest, NullJobsAndTeams) {
    kumiki_job* const job = nullptr;
    kumiki_team* team = nullptr;
    void* memory = nullptr;
    std::uint64_t value = 0;
    kumiki_request request = nullptr;
    int number = 0;
    const auto expect_null = [](kumiki_status status, const std::string& operation) {
        expect_error(status, KUMIKI_ERROR_ARGUMENT, {operation + ": the ", "null"});
    };
    expect_null(kumiki_allocate(job, 8, &memory), "allocate");
    expect_null(kumiki_put(job, 0, &value, &value, 8), "put");
    expect_null(kumiki_fetch_add(job, 0, &value, 1, nullptr), "fetch_add");
    expect_null(kumiki_signal_wait(job, &value, KUMIKI_EQUAL, 0, nullptr), "signal_wait");
    expect_null(kumiki_progress(job, nullptr), "progress");
    expect_null(kumiki_send(job, 0, 0, &value, 8, &request), "send");
    expect_null(kumiki_barrier(job), "barrier");
    expect_null(kumiki_broadcast(job, &value, 8, 0), "broadcast");
    expect_null(kumiki_shared_barrier(job), "shared_barrier");
    expect_null(kumiki_threads_of(job, 0, &number), "threads_of");
    expect_null(kumiki_on_failure(job, nullptr, nullptr), "on_failure");
    expect_null(kumiki_team_create(job, 1, &team), "team_create");
    expect_null(kumiki_team_run(team, [](void*, int) {}, nullptr), "team_run");
    expect_null(kumiki_team_barrier(team, 0), "team_barrier");
    EXPECT_EQ(kumiki_job_group(job), nullptr);
    EXPECT_EQ(kumiki_rank(job), -1);
    EXPECT_EQ(kumiki_size(job), -1);
    EXPECT_EQ(kumiki_threads(job), -1);
    EXPECT_EQ(kumiki_team_size(team), -1);
    EXPECT_EQ(kumiki_processors(job, nullptr), 0);
    EXPECT_EQ(kumiki_devices(job, nullptr), 0);
    EXPECT_EQ(kumiki_oversubscribed(job), 0);
    kumiki_team_break(team, 0);
    kumiki_abandon(job);
    with_region([](kumiki_job* usable, std::byte*) {
        EXPECT_EQ(kumiki_processors(usable, nullptr), 0) << "the tests' jobs are not bound";
        EXPECT_EQ(kumiki_devices(usable, nullptr), 0);
    });
}

TEST(MisuseTest, WordsThatAreNotAligned) {
    with_region([](kumiki_job* job, std::byte* region) {
        for (const Operation& operation : on_words)
            for (const std::size_t off : {1, 4, 7})
                expect_error(operation.call(job, 1, region + off, 8), KUMIKI_ERROR_ARGUMENT,
                             {operation.name, text(region + off), "aligned to 8"});
        expect_error(kumiki_signal_wait(job, word(region + 4), KUMIKI_EQUAL, 0, nullptr), KUMIKI_ERROR_ARGUMENT,
                     {text(region + 4), "aligned"});
    });
}

TEST(MisuseTest, ValuesThatAreNoOperation) {
    with_region([](kumiki_job* job, std::byte* region) {
        int satisfied = 0;
        expect_error(kumiki_signal_test(job, word(region), KUMIKI_EQUAL, 0, nullptr, nullptr), KUMIKI_ERROR_ARGUMENT,
                     {"signal_test:", "null"});
        expect_error(kumiki_signal_test(job, word(region), no_such<kumiki_comparison>(4), 0, &satisfied, nullptr),
                     KUMIKI_ERROR_ARGUMENT, {"signal_test:", "comparison 4"});
        expect_error(kumiki_signal_wait(job, word(region), no_such<kumiki_comparison>(4), 0, nullptr),
                     KUMIKI_ERROR_ARGUMENT, {"comparison 4"});
        const auto none = no_such<kumiki_signal_operation>(7);
        expect_error(kumiki_signal(job, 1, word(region), none, 1), KUMIKI_ERROR_ARGUMENT, {"operation 7"});
        expect_error(kumiki_put_signal(job, 1, region + 8, buffer.data(), 8, word(region), none, 1),
                     KUMIKI_ERROR_ARGUMENT, {"operation 7"});
    });
}

TEST(MisuseTest, NothingIsWrittenWhenAPutSignalIsRefused) {
    with_region([](kumiki_job* job, std::byte* region) {
        std::uint64_t value = ~std::uint64_t{0}, there = 0;
        expect_error(kumiki_put_signal(job, 1, region, &value, 8, word(region + 96), KUMIKI_SIGNAL_SET, 1),
                     KUMIKI_ERROR_REGION, {"96 to 104"});
        ASSERT_EQ(kumiki_get(job, 1, region, &there, 8), KUMIKI_OK);
        EXPECT_EQ(there, 0u) << "the signal's address was wrong: no data either";
        expect_error(kumiki_put_signal(job, 1, region + 96, &value, 8, word(region), KUMIKI_SIGNAL_SET, 1),
                     KUMIKI_ERROR_REGION, {"96 to 104"});
        ASSERT_EQ(kumiki_get(job, 1, region, &there, 8), KUMIKI_OK);
        EXPECT_EQ(there, 0u) << "the data's address was wrong: no signal either";
    });
}

TEST(MisuseTest, AReleasedRegionIsNoRegion) {
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 1 << 20, &region), KUMIKI_OK);
        ASSERT_EQ(kumiki_release(job, region), KUMIKI_OK);
        expect_error(kumiki_put(job, 0, region, buffer.data(), 1), KUMIKI_ERROR_REGION, {"no region"});
        expect_error(kumiki_release(job, region), KUMIKI_ERROR_REGION, {"not the start of a region"});
        std::uint64_t local = 0;
        for (void* const nowhere : {static_cast<void*>(nullptr), static_cast<void*>(&local),
                                    static_cast<void*>(static_cast<std::byte*>(region) + 1)})
            expect_error(kumiki_release(job, nowhere), KUMIKI_ERROR_REGION, {"not the start of a region"});
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK) << "the job is usable";
    });
}

TEST(MisuseTest, RegionsThatCannotBe) {
    run_jobs_as_threads({.ranks = 2, .arena_bytes = std::size_t{64} << 20}, [](kumiki_job* job) {
        void* region = nullptr;
        expect_error(kumiki_allocate(job, 1, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        expect_error(kumiki_allocate(job, 0, &region), KUMIKI_ERROR_ARGUMENT, {"at least one byte"});
        expect_error(kumiki_allocate(job, std::size_t{1} << 30, &region), KUMIKI_ERROR_MEMORY,
                     {"1073741824", "KUMIKI_ARENA"});
        expect_error(kumiki_allocate(job, SIZE_MAX, &region), KUMIKI_ERROR_MEMORY,
                     {std::to_string(SIZE_MAX), "KUMIKI_ARENA"});
        EXPECT_EQ(region, nullptr);
        ASSERT_EQ(kumiki_allocate(job, 1, &region), KUMIKI_OK) << "the job is usable";
    });
}

TEST(MisuseTest, RegionsThatTheHostCannotHold) {
    if (tests::over_network()) GTEST_SKIP() << "the sentence speaks of one host's ranks";
    const std::size_t bytes = std::bit_ceil(platform::physical_memory());
    run_jobs_as_threads({.ranks = 2, .arena_bytes = bytes}, [bytes](kumiki_job* job) {
        void* region = nullptr;
        expect_error(kumiki_allocate(job, bytes, &region), KUMIKI_ERROR_MEMORY,
                     {std::to_string(bytes), std::to_string(2 * bytes), "2 ranks"});
        ASSERT_EQ(kumiki_allocate(job, 1, &region), KUMIKI_OK) << "the job is usable";
    });
}

} // namespace
} // namespace kumiki::tests
