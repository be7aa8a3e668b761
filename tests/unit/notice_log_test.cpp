#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "dsm/history.hpp"
#include "dsm/lock_area.hpp"
#include "support/build.hpp"

namespace kumiki::dsm {
namespace {

TEST(NoticeLogTest, GivesWhatCameAfterAPosition) {
    const auto log = std::make_unique<NoticeLog>();
    for (std::uint64_t number = 1; number <= 10; ++number)
        log->append({{0, Notice::Kind::changed, 1, number}, number, 0});
    std::vector<Told> news;
    EXPECT_TRUE(log->since(7, news));
    ASSERT_EQ(news.size(), 3u);
    EXPECT_EQ(news.front().number, 8u);
    EXPECT_EQ(log->end(), 10u);
}

TEST(NoticeLogTest, AFullLogForgetsWhatItsWriterAnnouncedAgain) {
    const auto log = std::make_unique<NoticeLog>();
    // Two writers announce the same few pages over and over.
    for (std::uint64_t number = 1; number <= 10 * NoticeLog::capacity; ++number)
        for (const std::uint32_t writer : {0u, 1u})
            log->append({{0, Notice::Kind::changed, 1, number % 5}, number, writer});
    std::vector<Told> news;
    EXPECT_TRUE(log->since(3, news)) << "everything that is not there has a successor";
    EXPECT_LE(news.size(), NoticeLog::capacity);
    std::set<std::pair<std::uint32_t, std::uint64_t>> pages;
    for (const Told& told : news) pages.emplace(told.writer, told.notice.first);
    EXPECT_EQ(pages.size(), 10u);
}

TEST(NoticeLogTest, SaysWhatItHasLost) {
    const auto log = std::make_unique<NoticeLog>();
    for (std::uint64_t number = 1; number <= NoticeLog::capacity + 1; ++number)
        log->append({{0, Notice::Kind::changed, 1, number}, number, 0});
    std::vector<Told> news;
    EXPECT_FALSE(log->since(0, news));
    EXPECT_TRUE(log->since(NoticeLog::capacity, news));
    log->renew(1);
    EXPECT_TRUE(log->since(0, news)) << "a barrier has told it";
}

/// Zeros, like a region.
struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const { platform::release_zeros(memory, bytes); }
};
using Zeros = std::unique_ptr<std::byte, Unmap>;
Zeros zeros(std::size_t bytes) { return {platform::reserve_zeros(bytes), {bytes}}; }

/// For each writer and page, the number of the last notice.
using Knowledge = std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>;
void add(Knowledge& to, const Knowledge& from) {
    for (const auto& [page, number] : from) to[page] = std::max(to[page], number);
}

/// A model: ranks write pages and pass their notices on by locks with different managers, in random order. A rank that
/// has acquired has dropped its copy of every page that was written on the way to it.
void run_chains(unsigned seed, unsigned pages, int rounds) {
    constexpr unsigned ranks = 4;
    struct Reader {
        History history;
        Knowledge must_drop{}, dropped{};
        std::uint64_t own = 0;
    };
    std::mt19937 engine(seed);
    std::vector<Zeros> memory;
    std::vector<LockArea> areas;
    std::vector<Reader> readers;
    std::vector<Knowledge> brought(ranks);
    Knowledge written;
    for (unsigned rank = 0; rank < ranks; ++rank) {
        memory.push_back(zeros(LockArea::bytes(ranks)));
        areas.emplace_back(memory.back().get(), static_cast<int>(ranks));
        readers.push_back({History(static_cast<int>(ranks), static_cast<int>(rank))});
    }
    for (int round = 1; round <= rounds; ++round) {
        const auto who = static_cast<std::uint32_t>(engine() % (round % 200 < 180 ? ranks - 1 : ranks));
        const unsigned manager = engine() % ranks;
        Reader& reader = readers[who];
        std::vector<Told> news;
        const auto read = areas[manager].read(0, reader.history.position(static_cast<int>(manager)), news);
        reader.history.has_read(static_cast<int>(manager), read.end);
        if (!read.complete) {
            reader.history.announce(Notice::everything());
            ++reader.own;
            add(reader.dropped, written);
        }
        for (const Told& told : news) {
            if (!reader.history.learn(told)) continue;
            if (told.notice == Notice::everything()) add(reader.dropped, written);
            else add(reader.dropped, {{{told.writer, told.notice.first}, told.number}});
        }
        add(reader.must_drop, brought[manager]);
        for (const auto& [page, number] : reader.must_drop)
            ASSERT_TRUE(page.first == who || reader.dropped[page] >= number) << "seed " << seed << " round " << round;
        for (auto count = engine() % 40; count > 0; --count) {
            const std::uint64_t page = engine() % pages;
            reader.history.announce({0, Notice::Kind::changed, 1, page});
            written[{who, page}] = reader.must_drop[{who, page}] = ++reader.own;
        }
        const auto told = reader.history.news_for(static_cast<int>(manager));
        if (!told.empty() && told.back().notice == Notice::everything() && told.back().writer == who &&
            told.back().number > reader.own)
            ++reader.own; // it no longer knew what to tell
        areas[manager].tell(0, told);
        add(brought[manager], reader.must_drop);
    }
}

TEST(NoticeLogTest, ChainsOfManagersLoseNothing) {
    const unsigned seed = std::random_device{}();
    for (const unsigned pages : {10u, 300u, 4000u}) run_chains(seed, pages, tests::sanitized ? 250 : 500);
}

TEST(LockAreaTest, GrantsInTheOrderOfTheQueue) {
    const Zeros memory = zeros(LockArea::bytes(3));
    LockArea area(memory.get(), 3);
    EXPECT_EQ(area.holder(7), -1);
    EXPECT_TRUE(area.take_or_queue(7, {2, 5}, 0));
    EXPECT_EQ(area.holder(7), 2);
    EXPECT_FALSE(area.take(7, 1));
    EXPECT_TRUE(area.take(4, 1)) << "another lock of the same manager";
    EXPECT_FALSE(area.take_or_queue(7, {0, 63}, 11));
    EXPECT_FALSE(area.take_or_queue(7, {1, 0}, 12));
    EXPECT_FALSE(area.take_or_queue(7, {0, 0}, 13));
    LockArea::Next next{};
    for (const LockArea::Next expected : {LockArea::Next{{0, 63}, 11}, {{1, 0}, 12}, {{0, 0}, 13}}) {
        ASSERT_TRUE(area.pass(7, next));
        EXPECT_EQ(next.waiter.number(), expected.waiter.number());
        EXPECT_EQ(next.position, expected.position);
    }
    EXPECT_FALSE(area.pass(7, next));
    EXPECT_TRUE(area.take(7, 0));
}

} // namespace
} // namespace kumiki::dsm
