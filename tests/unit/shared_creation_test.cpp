#include <cstdlib>
#include <gtest/gtest.h>
#include <kumiki/kumiki.hpp>
#include <vector>

#include "support/jobs.hpp"

// Arrays with dimensions and blocks of single threads, as programs use them: each rank is a process.
namespace kumiki {
namespace {

using tests::run_programs;

const char* const copies[] = {"host", "rank"};

TEST(IndexesTest, PartsAreRunsOfTheSameIndexes) {
    const Indexes all({{2, 5}, {7, 8}, {10, 20}});
    EXPECT_EQ(all.size(), 14u);
    const std::vector<std::size_t> expected = {2, 3, 4, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    EXPECT_EQ(std::vector<std::size_t>(all.begin(), all.end()), expected);
    for (int parts = 1; parts < 20; ++parts) {
        std::vector<std::size_t> together;
        for (int part = 0; part < parts; ++part) {
            const Indexes some = all.part(parts, part);
            EXPECT_LE(some.size(), 14 / static_cast<std::size_t>(parts) + 1);
            together.insert(together.end(), some.begin(), some.end());
        }
        EXPECT_EQ(together, expected) << parts;
    }
    const Indexes inner = all.within({4, 12});
    EXPECT_EQ(std::vector<std::size_t>(inner.begin(), inner.end()), (std::vector<std::size_t>{4, 7, 10, 11}));
    EXPECT_EQ(Indexes({}).begin(), Indexes({}).end());
    EXPECT_EQ(all.within({5, 7}).size(), 0u);
}

TEST(SharedCreationTest, RowsThatAreDealt) {
    for (const char* const copy : copies)
        run_programs({.ranks = 3}, [copy](int) {
            setenv("KUMIKI_SHARED_COPIES", copy, 1);
            Job job;
            constexpr std::size_t rows = 100, columns = 512;
            auto field = job.share<double>({Dimension::block(rows), columns});
            ASSERT_EQ(field.size(), rows * columns);
            Team team(job, 2);
            team.run([&](Member& member) {
                for (const std::size_t row : field.own().part(member.threads(), member.thread()))
                    for (std::size_t column = 0; column < columns; ++column)
                        field.row(row)[column] += static_cast<double>(row);
            });
            job.shared_barrier();
            EXPECT_EQ(field.counters().fetches, 0u) << copy;
            for (std::size_t row = 0; row < rows; ++row) {
                ASSERT_EQ(field.home(row * columns), static_cast<int>(row / 34));
                for (std::size_t column = 0; column < columns; ++column)
                    ASSERT_EQ(field.row(row)[column], static_cast<double>(row));
            }
            job.shared_barrier();
            auto dealt = job.share<double>({Dimension::cyclic(rows, 5), Dimension::whole(columns)}, Homes::block, 4096);
            for (const Indexes::Run& run : dealt.own().runs()) {
                EXPECT_EQ(run.begin / 5 % 3, static_cast<std::size_t>(job.rank()));
                EXPECT_EQ(run.size(), 5u);
            }
            auto moved = std::move(dealt);
            EXPECT_EQ(moved.row(2), moved.data() + 2 * columns);
            job.shared_barrier();
        });
}

// A list whose elements all ranks add, under a lock, and that rank 0 frees.
TEST(SharedCreationTest, RanksBuildAListTogether) {
    struct Link {
        Link* next;
        int rank, number;
    };
    for (const char* const copy : copies)
        run_programs({.ranks = 3}, [copy](int) {
            setenv("KUMIKI_SHARED_COPIES", copy, 1);
            Job job;
            auto list = job.share<Link*>(1);
            constexpr int each = 200;
            for (int number = 0; number < each; ++number) {
                auto* const link = job.shared_malloc<Link>();
                ASSERT_EQ(link->next, nullptr);
                link->rank = job.rank();
                link->number = number;
                SharedLock lock = job.shared_lock(3);
                const std::lock_guard guard(lock);
                link->next = list[0];
                list[0] = link;
            }
            job.shared_barrier();
            std::vector<int> next(3, each); // each rank's last one comes first
            for (const Link* link = list[0]; link != nullptr; link = link->next)
                ASSERT_EQ(link->number, --next[static_cast<std::size_t>(link->rank)]);
            for (const int left : next) ASSERT_EQ(left, 0);
            job.shared_barrier();
            if (job.rank() == 0)
                while (Link* const first = list[0]) {
                    list[0] = first->next;
                    job.shared_free(first);
                }
            job.shared_barrier();
            auto* const again = job.shared_malloc<Link>();
            ASSERT_EQ(again->next, nullptr);
            job.shared_free(again);
            job.shared_barrier();
        });
}

TEST(SharedCreationTest, MistakesAreNamed) {
    run_programs({.ranks = 1}, [](int) {
        setenv("KUMIKI_SHARED_HEAP", "1M", 1);
        Job job;
        kumiki_job* const handle = job.handle();
        void* memory = nullptr;
        int local = 0;
        std::size_t begin = 0, end = 0;
        tests::expect_error(kumiki_shared_malloc(handle, 8, &memory), KUMIKI_ERROR_STATE, {"first shared array"});
        auto array = job.share<double>({10, 20});
        tests::expect_error(kumiki_shared_malloc(handle, 0, &memory), KUMIKI_ERROR_ARGUMENT, {"at least one byte"});
        tests::expect_error(kumiki_shared_malloc(handle, 8, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        tests::expect_error(kumiki_shared_malloc(handle, 2 << 20, &memory), KUMIKI_ERROR_MEMORY,
                            {"2097152 bytes", "1048576", "KUMIKI_SHARED_HEAP"});
        tests::expect_error(kumiki_shared_free(handle, &local), KUMIKI_ERROR_ARGUMENT, {"shared_malloc"});
        tests::expect_error(kumiki_shared_free(handle, array.data()), KUMIKI_ERROR_ARGUMENT, {"shared_release"});
        EXPECT_EQ(kumiki_shared_free(handle, nullptr), KUMIKI_OK);
        tests::expect_error(kumiki_shared_own(handle, array.data(), 0, 0, nullptr, &end), KUMIKI_ERROR_ARGUMENT,
                            {"null"});
        tests::expect_error(kumiki_shared_own(handle, array.data(), -1, 0, &begin, &end), KUMIKI_ERROR_ARGUMENT,
                            {"negative"});
        tests::expect_error(kumiki_shared_own(handle, array.data(), 2, 0, &begin, &end), KUMIKI_ERROR_ARGUMENT,
                            {"2 dimensions"});
        kumiki_dimension dimension{5, tests::no_such<kumiki_deal>(9), 0};
        tests::expect_error(kumiki_shared_allocate_dimensions(handle, 8, &dimension, 1, 0, KUMIKI_HOMES_BLOCK, &memory),
                            KUMIKI_ERROR_ARGUMENT, {"whole, block, and cyclic"});
        tests::expect_error(kumiki_shared_allocate_dimensions(handle, 8, nullptr, 1, 0, KUMIKI_HOMES_BLOCK, &memory),
                            KUMIKI_ERROR_ARGUMENT, {"one dimension or more"});
    });
}

TEST(SharedCreationTest, WithoutAHeapTheSettingIsNamed) {
    run_programs({.ranks = 2}, [](int) {
        setenv("KUMIKI_SHARED_HEAP", "0", 1);
        Job job;
        auto array = job.share<int>(1);
        void* memory = nullptr;
        tests::expect_error(kumiki_shared_malloc(job.handle(), 8, &memory), KUMIKI_ERROR_MEMORY,
                            {"KUMIKI_SHARED_HEAP"});
    });
}

} // namespace
} // namespace kumiki
