// Pivots and factors beside those of LAPACK's dgetrf, for matrices of HPL's, which have no two equal candidates for a
// pivot.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/blas_library.hpp"
#include "linpack/factorisation.hpp"
#include "linpack/generator.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"

extern "C" void dgetrf_(const int* rows, const int* columns, double* matrix, const int* lead, int* pivots, int* info);

namespace kumiki::linpack {
namespace {

/// What LAPACK makes of [A | b]: by columns, as it wants them.
struct Lapack {
    explicit Lapack(std::size_t size) : n(size), factors(n * n), right_side(n), pivots(n) {
        const Generator generator(n);
        std::vector<double> row(n + 1);
        for (std::size_t i = 0; i < n; ++i) {
            generator.fill(i, 0, n + 1, row.data());
            for (std::size_t j = 0; j < n; ++j) factors[j * n + i] = row[j];
            right_side[i] = row[n];
        }
        const int length = static_cast<int>(n);
        std::vector<int> counted_from_1(n);
        int info = -1;
        dgetrf_(&length, &length, factors.data(), &length, counted_from_1.data(), &info);
        EXPECT_EQ(info, 0);
        for (std::size_t i = 0; i < n; ++i) pivots[i] = static_cast<std::size_t>(counted_from_1[i]) - 1;
        for (std::size_t i = 0; i < n; ++i) std::swap(right_side[i], right_side[pivots[i]]);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = j + 1; i < n; ++i) right_side[i] -= factors[j * n + i] * right_side[j];
    }
    /// Of [U | L^-1 P b].
    double at(std::size_t row, std::size_t column) const {
        return column == n ? right_side[row] : factors[column * n + row];
    }

    std::size_t n;
    std::vector<double> factors, right_side;
    std::vector<std::size_t> pivots;
};

struct Case {
    std::size_t size, block;
    Grid grid;
    int threads;
    std::vector<double> weights;
    Variant variant;
};

/// The largest difference between this rank's elements of [U | L^-1 P b] and LAPACK's.
double difference(const Place& place, const Layout& layout, const LocalMatrix& matrix, const Lapack& expected) {
    double largest = 0;
    for (std::size_t i = 0; i < matrix.rows(); ++i)
        for (std::size_t j = 0; j < matrix.columns(); ++j) {
            const std::size_t row = layout.rows.global_of(place.row(), i);
            const std::size_t column = layout.columns.global_of(place.column(), j);
            if (row > column) continue; // L is not kept
            const double apart = std::abs(*matrix.at(i, j) - expected.at(row, column));
            largest = apart <= largest ? largest : apart; // also where it is no number
        }
    return largest;
}

void expect_as_lapack(const Case& it) {
    SCOPED_TRACE(fmt::format("N {} B {} grid {} x {}, {} threads, panels {} {} {} {}", it.size, it.block, it.grid.rows,
                             it.grid.columns, it.threads, static_cast<int>(it.variant.recursive), it.variant.parts,
                             static_cast<int>(it.variant.leaf), it.variant.least));
    kernels::set_blas_threads(1);
    const Lapack expected(it.size);
    tests::run_programs({.ranks = static_cast<int>(it.grid.size()), .crowded = true, .threads = it.threads}, [&](int) {
        Job job;
        Place place(job, it.grid);
        Team team(job);
        const Layout layout = Layout::of(it.size, it.block, it.grid, it.weights);
        const LocalMatrix matrix(layout.rows.local_length(place.row()), layout.columns.local_length(place.column()));
        const Generator generator(it.size);
        for (std::size_t i = 0; i < matrix.rows(); ++i)
            for (std::size_t j = 0; j < matrix.columns(); ++j)
                generator.fill(layout.rows.global_of(place.row(), i), layout.columns.global_of(place.column(), j), 1,
                               matrix.at(i, j));
        Factorisation factorisation(place, layout, matrix, team, it.variant, {});
        EXPECT_TRUE(factorisation.run());
        EXPECT_EQ(factorisation.pivots(), expected.pivots);
        // Elements of U are of the order of 10. The order of the sums differs, and errors grow along the elimination.
        EXPECT_LT(difference(place, layout, matrix, expected), 1e-11);
    });
}

TEST(Factors, AreLapacksOfAMatrixOverAGrid) {
    expect_as_lapack({400, 32, {2, 2, true}, 1, {}, {}});
    expect_as_lapack({400, 32, {1, 1, true}, 2, {}, {}});
}

class RandomFactors : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomFactors, AreLapacks) {
    tests::Random random(GetParam());
    const auto looking = [&] { return static_cast<Looking>(random.between(0, 2)); };
    const Grid grid{random.between(1, 3), random.between(1, 3), random.once_in(2)};
    const Variant variant{looking(), random.between<std::size_t>(2, 4), looking(), random.between<std::size_t>(1, 10)};
    std::vector<double> weights(static_cast<std::size_t>(grid.columns));
    for (double& weight : weights) weight = random.between(1, 3);
    expect_as_lapack({random.between<std::size_t>(1, 300), random.between<std::size_t>(1, 40), grid,
                      random.between(1, 2), weights, variant});
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomFactors, testing::Range<std::uint64_t>(100, 112));

} // namespace
} // namespace kumiki::linpack
