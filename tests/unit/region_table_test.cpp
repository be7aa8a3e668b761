#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <rapidcheck/gtest.h>

#include "fabric/region_table.hpp"
#include "platform/memory.hpp"

namespace kumiki::fabric {
namespace {

constexpr std::size_t granule = RegionTable::granule;
constexpr std::size_t huge = platform::huge_page;
constexpr std::size_t arena = 8 * huge;

/// The meaning of a table of regions, determined by trying every place.
class Model {
public:
    std::optional<Extent> add(std::size_t bytes) {
        const std::size_t alignment = bytes >= huge ? huge : granule;
        for (std::size_t begin = 0; begin < arena && bytes <= arena - begin; begin += alignment)
            if (is_free(begin, platform::round_up(begin + bytes, granule))) {
                regions_[begin] = begin + bytes;
                return Extent{begin, begin + bytes};
            }
        return std::nullopt;
    }
    bool remove(std::size_t begin) { return regions_.erase(begin) == 1; }
    bool contains(std::size_t offset, std::size_t bytes) const {
        for (const auto& [begin, end] : regions_)
            if (offset >= begin && offset < end) return bytes <= end - offset;
        return false;
    }
    const std::map<std::size_t, std::size_t>& regions() const { return regions_; }

private:
    bool is_free(std::size_t from, std::size_t to) const {
        for (const auto& [begin, end] : regions_)
            if (from < platform::round_up(end, granule) && begin < to) return false;
        return true;
    }
    std::map<std::size_t, std::size_t> regions_;
};

/// Every offset at which the answer can change, and its neighbours.
void expect_same_answers(const RegionTable& table, const Model& model) {
    std::vector<std::size_t> edges = {0, arena - 1, arena, arena + 1, SIZE_MAX};
    for (const auto& [begin, end] : model.regions())
        for (const std::size_t edge : {begin, end, platform::round_up(end, granule)})
            for (const std::size_t offset : {edge - 1, edge, edge + 1}) edges.push_back(offset);
    for (const std::size_t offset : edges) {
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}, granule, SIZE_MAX})
            RC_ASSERT(table.contains(offset, bytes) == model.contains(offset, bytes));
        for (const std::size_t end : edges)
            if (end > offset) RC_ASSERT(table.contains(offset, end - offset) == model.contains(offset, end - offset));
    }
}

RC_GTEST_PROP(RegionTableProperty, BehavesAsTheModelDoes, ()) {
    RegionTable table(arena);
    Model model;
    const auto steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) {
        if (!model.regions().empty() && *rc::gen::inRange(0, 5) < 2) {
            const auto which = *rc::gen::inRange<std::size_t>(0, model.regions().size());
            const std::size_t begin = std::next(model.regions().begin(), static_cast<std::ptrdiff_t>(which))->first;
            const auto removed = table.remove(begin);
            RC_ASSERT(removed.has_value());
            RC_ASSERT(removed->begin == begin);
            RC_ASSERT(model.remove(begin));
        } else {
            const auto bytes = *rc::gen::oneOf(
                rc::gen::inRange<std::size_t>(1, 3 * granule),
                rc::gen::map(rc::gen::inRange<std::size_t>(1, 80), [](std::size_t n) { return n * granule; }),
                rc::gen::inRange<std::size_t>(huge - 2, 3 * huge), rc::gen::element(arena, arena + 1, SIZE_MAX));
            const auto added = table.add(bytes);
            const auto expected = model.add(bytes);
            RC_ASSERT(added.has_value() == expected.has_value());
            if (!added) continue;
            RC_ASSERT(added->begin == expected->begin);
            RC_ASSERT(added->end == expected->end);
        }
        expect_same_answers(table, model);
    }
}

TEST(RegionTableTest, TheLastByteIsInsideAndTheNextIsNot) {
    RegionTable table(arena);
    const Extent extent = table.add(100).value();
    EXPECT_TRUE(table.contains(extent.begin, 100));
    EXPECT_TRUE(table.contains(extent.begin + 99, 1));
    EXPECT_FALSE(table.contains(extent.begin + 99, 2));
    EXPECT_FALSE(table.contains(extent.begin + 100, 1));
    EXPECT_FALSE(table.contains(extent.begin, 101));
    EXPECT_FALSE(table.contains(extent.begin + 1, SIZE_MAX)) << "the end must not wrap around";
    EXPECT_FALSE(table.contains(SIZE_MAX, 1));
}

TEST(RegionTableTest, NeighboursAreTwoRegions) {
    RegionTable table(arena);
    const Extent first = table.add(granule).value(), second = table.add(granule).value();
    ASSERT_EQ(second.begin, first.end);
    EXPECT_FALSE(table.contains(first.end - 1, 2)) << "no transfer reaches from one region into another";
}

TEST(RegionTableTest, HolesAreUsedAgain) {
    RegionTable table(arena);
    const Extent a = table.add(granule).value(), b = table.add(3 * granule).value(), c = table.add(granule).value();
    ASSERT_TRUE(table.remove(b.begin));
    EXPECT_FALSE(table.contains(b.begin, 1));
    EXPECT_TRUE(table.contains(a.begin, a.size()));
    EXPECT_TRUE(table.contains(c.begin, c.size()));
    EXPECT_EQ(table.add(2 * granule).value().begin, b.begin);
    EXPECT_EQ(table.add(granule + 1).value().begin, c.begin + granule) << "one granule is left of the hole: too small";
    EXPECT_EQ(table.add(granule).value().begin, b.begin + 2 * granule);
}

TEST(RegionTableTest, LargeRegionsBeginAtHugePages) {
    RegionTable table(arena);
    EXPECT_EQ(table.add(1).value().begin, 0u);
    EXPECT_EQ(table.add(huge).value().begin, huge);
    EXPECT_EQ(table.add(huge - granule).value().begin, granule) << "a smaller one may lie between";
}

TEST(RegionTableTest, AFullArenaSaysHowMuchThereIsAndWhatMakesItLarger) {
    RegionTable table(arena);
    ASSERT_TRUE(table.add(arena));
    const auto refused = table.add(5);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, KUMIKI_ERROR_MEMORY);
    for (const std::string& words : {std::string("5 bytes"), std::to_string(arena), std::string("KUMIKI_ARENA")})
        EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
    ASSERT_TRUE(table.remove(0));
    EXPECT_TRUE(table.add(5)) << "the arena is empty again";
}

TEST(RegionTableTest, OnlyTheBeginningOfARegionCanBeRemoved) {
    RegionTable table(arena);
    const Extent extent = table.add(granule + 1).value();
    for (const std::size_t offset : {extent.begin + 1, extent.begin + granule, extent.end, arena, SIZE_MAX}) {
        const auto refused = table.remove(offset);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().status, KUMIKI_ERROR_REGION);
    }
    ASSERT_TRUE(table.remove(extent.begin));
    EXPECT_FALSE(table.remove(extent.begin)) << "once";
}

TEST(RegionTableTest, ExplainsWhereAnAccessGoesWrong) {
    RegionTable table(arena);
    const Extent extent = table.add(100).value();
    const std::string over = table.explain(extent.begin + 90, 20);
    for (const char* words : {"100 bytes", "90", "110"}) EXPECT_NE(over.find(words), std::string::npos) << over;
    for (const std::size_t offset : {extent.begin + granule, arena, SIZE_MAX})
        EXPECT_NE(table.explain(offset, 1).find("no region"), std::string::npos) << table.explain(offset, 1);
}

} // namespace
} // namespace kumiki::fabric
