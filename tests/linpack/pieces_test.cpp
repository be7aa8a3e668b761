// The parts of a step by themselves: rates that are numbers, the same at every rank, however often they are taken.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/blas_library.hpp"
#include "linpack/pieces.hpp"
#include "support/jobs.hpp"

namespace kumiki::linpack {
namespace {

void expect_rates(int ranks, int threads, const Parameters& parameters, bool has_columns_behind) {
    tests::run_programs({.ranks = ranks, .crowded = true, .threads = threads}, [&](int) {
        Job job;
        kernels::set_blas_threads(1);
        Pieces pieces(job, parameters);
        for (int round = 0; round < 3; ++round) {
            const double rates[] = {pieces.panel(), pieces.solution(), pieces.product(), pieces.exchange(),
                                    pieces.narrow()};
            for (const double rate : rates) {
                EXPECT_TRUE(std::isfinite(rate)) << rate;
                EXPECT_EQ(job.all_reduce(rate, Operation::max), rate);
            }
            EXPECT_GT(rates[0], 0);
            EXPECT_GT(rates[1], 0);
            EXPECT_EQ(rates[2] > 0, has_columns_behind);
            EXPECT_EQ(rates[4] > 0, has_columns_behind);
        }
    });
}

TEST(Pieces, HaveRates) {
    expect_rates(1, 3, {600, 32, {1, 1, true}, {}, {}, 16, {}}, true);
    expect_rates(4, 2, {150, 16, {2, 2, true}, {}, {}, 16, {}}, true);
    expect_rates(3, 1, {70, 8, {3, 1, true}, {}, {}, 16, {}}, true);
}

TEST(Pieces, OfOneBlockHaveNothingBehindIt) { expect_rates(1, 2, {9, 16, {1, 1, true}, {}, {}, 16, {}}, false); }

} // namespace
} // namespace kumiki::linpack
