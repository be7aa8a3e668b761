#include "kernels/himeno/cut.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace kumiki::kernels::himeno {
namespace {

const Problem& ss = problems.front(); // 30 planes and rows inside the boundary

TEST(Cut, covers_every_plane_and_row_once) {
    for (const Split split : {Split::planes, Split::pencils})
        for (const int workers : {1, 2, 3, 4, 6, 7, 12, 30}) {
            const Cut cut(ss, workers, split);
            std::set<std::pair<std::size_t, std::size_t>> covered;
            for (int worker = 0; worker < workers; ++worker)
                for (std::size_t plane = cut.planes(worker).begin; plane < cut.planes(worker).end; ++plane)
                    for (std::size_t row = cut.rows(worker).begin; row < cut.rows(worker).end; ++row) {
                        EXPECT_TRUE(plane > 0 && plane < 31 && row > 0 && row < 31);
                        EXPECT_TRUE(covered.emplace(plane, row).second) << plane << ", " << row;
                    }
            EXPECT_EQ(covered.size(), 900u) << workers;
        }
}

TEST(Cut, links_lead_there_and_back) {
    for (const Split split : {Split::planes, Split::pencils})
        for (const int workers : {1, 2, 6, 9}) {
            const Cut cut(ss, workers, split);
            for (int worker = 0; worker < workers; ++worker)
                for (const auto& group : cut.neighbours(worker))
                    for (const auto& [side, link] : group) {
                        bool back = false;
                        for (const auto& group_there : cut.neighbours(link.partner))
                            for (const auto& [side_there, other] : group_there)
                                back |= side_there == opposite(side) && other.partner == worker &&
                                        other.line == link.partner_line && other.partner_line == link.line;
                        EXPECT_TRUE(back) << worker << " -> " << link.partner;
                    }
        }
}

TEST(Cut, planes_are_the_papers_and_pencils_have_the_smallest_surface) {
    EXPECT_EQ(Cut(ss, 4, Split::planes).rows(3), (Range{1, 31}));
    const Cut cut(ss, 4, Split::pencils);
    EXPECT_EQ(cut.planes(3), (Range{16, 31}));
    EXPECT_EQ(cut.rows(3), (Range{16, 31}));
    EXPECT_EQ(Cut(ss, 2, Split::pencils).rows(1), (Range{1, 31})) << "planes are as good, and need no packing";
}

TEST(Cut, refuses_more_workers_than_it_can_be_cut_for) {
    EXPECT_THROW(Cut(ss, 31, Split::planes), std::runtime_error);
    EXPECT_THROW(Cut(ss, 31, Split::pencils), std::runtime_error) << "31 is prime";
    EXPECT_NO_THROW(Cut(ss, 32, Split::pencils));
}

} // namespace
} // namespace kumiki::kernels::himeno
