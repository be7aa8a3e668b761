#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/shm/segment.hpp"
#include "support/jobs.hpp"

namespace kumiki::fabric::shm {
namespace {

constexpr std::size_t arena = std::size_t{4} << 20;

void expect_words(const Failure& failure, const std::vector<std::string>& words) {
    EXPECT_EQ(failure.status, KUMIKI_ERROR_ENVIRONMENT);
    for (const std::string& word : words)
        EXPECT_NE(failure.message.find(word), std::string::npos) << "no '" << word << "' in: " << failure.message;
}

TEST(SegmentTest, BeginsAsZerosWithRoomForEveryRank) {
    const Segment segment = Segment::create(3, arena - 1).value();
    EXPECT_EQ(segment.ranks(), 3);
    EXPECT_EQ(segment.arena_bytes(), arena) << "whole huge pages";
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(segment.block(rank).state.load(), RankState::absent);
        EXPECT_EQ(segment.block(rank).inbox.tail.load(), 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment.arena(rank)) % platform::page_size(), 0u);
        EXPECT_EQ(segment.arena(rank)[0], std::byte{0});
        EXPECT_EQ(segment.arena(rank)[arena - 1], std::byte{0});
        const auto* end_of_blocks = reinterpret_cast<const std::byte*>(&segment.block(2) + 1);
        EXPECT_GE(segment.arena(rank), end_of_blocks);
        EXPECT_EQ(segment.arena(rank) - segment.arena(0), rank * static_cast<std::ptrdiff_t>(arena));
    }
}

TEST(SegmentTest, WhoAdoptsItSeesTheSameMemory) {
    const Segment created = Segment::create(2, arena).value();
    const Segment adopted = Segment::adopt(created.descriptor(), 2).value();
    EXPECT_EQ(adopted.arena_bytes(), created.arena_bytes());
    ASSERT_NE(adopted.arena(1), created.arena(1)) << "a mapping of its own";
    created.arena(1)[arena - 1] = std::byte{42};
    EXPECT_EQ(adopted.arena(1)[arena - 1], std::byte{42});
}

TEST(SegmentTest, NoProgramInheritsIt) {
    const Segment segment = Segment::create(1, arena).value();
    EXPECT_EQ(fcntl(segment.descriptor(), F_GETFD), FD_CLOEXEC) << "who hands it on duplicates it";
}

TEST(SegmentTest, AnotherVersionIsRefused) {
    const Segment segment = Segment::create(2, arena).value();
    segment.header().version ^= 1;
    const auto adopted = Segment::adopt(segment.descriptor(), 2);
    ASSERT_FALSE(adopted);
    expect_words(adopted.error(), {"different versions", "kumiki-run"});
}

TEST(SegmentTest, AnotherNumberOfRanksIsRefused) {
    const Segment segment = Segment::create(2, 16 * arena).value(); // large enough for three ranks
    const auto adopted = Segment::adopt(segment.descriptor(), 3);
    ASSERT_FALSE(adopted);
    expect_words(adopted.error(), {"KUMIKI_SIZE=3", "2 ranks", "launcher"});
}

TEST(SegmentTest, AClosedDescriptorIsRefused) {
    const int closed = dup(0);
    close(closed);
    const auto adopted = Segment::adopt(closed, 1);
    ASSERT_FALSE(adopted);
    expect_words(adopted.error(), {"file descriptor " + std::to_string(closed), "closed it"});
}

TEST(SegmentTest, ADescriptorOfSomethingElseIsRefused) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto from_pipe = Segment::adopt(ends[0], 1);
    ASSERT_FALSE(from_pipe);
    expect_words(from_pipe.error(), {"file descriptor"});
    close(ends[0]);
    close(ends[1]);
    const auto small = platform::SharedFile::create(100).value();
    const auto from_small = Segment::adopt(small.descriptor(), 1);
    ASSERT_FALSE(from_small);
    EXPECT_EQ(from_small.error().status, KUMIKI_ERROR_ENVIRONMENT);
}

TEST(SegmentTest, TooLargeAnArenaIsRefusedBeforeTheSystemIsAsked) {
    for (const std::size_t bytes : {std::size_t{1} << 46, std::size_t{1} << 62}) {
        const auto segment = Segment::create(4096, bytes);
        ASSERT_FALSE(segment);
        expect_words(segment.error(), {"KUMIKI_ARENA=" + std::to_string(bytes), "4096 ranks"});
    }
}

TEST(SegmentTest, ReleasedMemoryGoesBackToTheSystem) {
    tests::run_ranks_as_threads({.ranks = 1}, [](tests::Rank& rank) {
        constexpr std::size_t bytes = std::size_t{64} << 20;
        void* region = rank.collectives.allocate(bytes).value();
        std::memset(region, 1, bytes);
        const auto shared_pages = [] {
            std::size_t total = 0, resident = 0, shared = 0;
            std::FILE* file = std::fopen("/proc/self/statm", "r");
            EXPECT_EQ(std::fscanf(file, "%zu %zu %zu", &total, &resident, &shared), 3);
            std::fclose(file);
            return shared;
        };
        const std::size_t before = shared_pages();
        ASSERT_TRUE(rank.collectives.release(region));
        EXPECT_LT(shared_pages() + bytes / platform::page_size() / 2, before);
    });
}

class FreshRegionTest : public testing::TestWithParam<bool> {};

TEST_P(FreshRegionTest, IsZeroedAlsoWhereAnotherOneWas) {
    const bool pin = GetParam();
    tests::run_ranks_as_threads({.ranks = 2, .pin = pin}, [](tests::Rank& rank) {
        for (const std::size_t bytes : {std::size_t{5}, platform::page_size() + 1, 3 * platform::page_size()}) {
            auto* first = static_cast<unsigned char*>(rank.collectives.allocate(bytes).value());
            std::memset(first, 0xff, bytes);
            ASSERT_TRUE(rank.collectives.release(first));
            auto* second = static_cast<unsigned char*>(rank.collectives.allocate(bytes).value());
            ASSERT_EQ(second, first);
            for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(second[i], 0) << "byte " << i << " of " << bytes;
            ASSERT_TRUE(rank.collectives.release(second));
        }
    });
}
INSTANTIATE_TEST_SUITE_P(Pinned, FreshRegionTest, testing::Bool());

TEST(JoinTest, ASecondJoinIsRefusedAndClosesNothing) {
    tests::run_programs({.ranks = 1}, [](int) {
        kumiki_job *job = nullptr, *again = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK) << kumiki_error_message();
        tests::expect_error(kumiki_join(&again), KUMIKI_ERROR_STATE, {"rank 0", "already joined"});
        // If the refusal closed the job's descriptor, this file would get its number, and leaving the job would close
        // the file.
        const int file = open("/dev/null", O_RDONLY);
        ASSERT_EQ(kumiki_leave(job), KUMIKI_OK);
        EXPECT_NE(fcntl(file, F_GETFD), -1) << "a descriptor of the program was closed";
        tests::expect_error(kumiki_join(&again), KUMIKI_ERROR_STATE, {"already left"});
    });
}

TEST(JoinTest, RanksWithoutALauncherAreRefused) {
    const char* const environment[] = {"KUMIKI_SIZE=2", nullptr};
    const auto joined = Fabric::join(read_settings(environment).value());
    ASSERT_FALSE(joined);
    expect_words(joined.error(), {"KUMIKI_SIZE=2", "kumiki-run -n 2"});
}

} // namespace
} // namespace kumiki::fabric::shm
