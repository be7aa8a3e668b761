// The whole solution over random sizes, blocks, grids, weights, threads and kinds of panels, beside a textbook's
// elimination of the same matrix. All ranks are on one host; over several, ctest's linpack.network.random runs
// the program.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/common/blas_library.hpp"
#include "linpack/back_substitution.hpp"
#include "linpack/factorisation.hpp"
#include "linpack/run.hpp"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"

namespace kumiki::linpack {
namespace {

/// Gaussian elimination with partial pivoting, column by column.
struct Textbook {
    explicit Textbook(std::size_t size) : n(size), a(size * (size + 1)) {
        const Generator generator(n);
        for (std::size_t row = 0; row < n; ++row) generator.fill(row, 0, n + 1, &at(row, 0));
        for (std::size_t k = 0; k < n; ++k) eliminate(k);
        x.assign(n, 0);
        for (std::size_t k = n; k-- > 0;) {
            double sum = at(k, n);
            for (std::size_t j = k + 1; j < n; ++j) sum -= at(k, j) * x[j];
            x[k] = sum / at(k, k);
        }
    }

    void eliminate(std::size_t k) {
        std::size_t pivot = k;
        for (std::size_t row = k + 1; row < n; ++row)
            if (std::abs(at(row, k)) > std::abs(at(pivot, k))) pivot = row;
        pivots.push_back(pivot);
        for (std::size_t j = 0; j <= n; ++j) std::swap(at(k, j), at(pivot, j));
        for (std::size_t row = k + 1; row < n; ++row) {
            const double factor = at(row, k) / at(k, k);
            for (std::size_t j = k; j <= n; ++j) at(row, j) -= factor * at(k, j);
        }
    }
    double& at(std::size_t row, std::size_t column) { return a[row * (n + 1) + column]; }

    std::size_t n;
    std::vector<double> a, x;
    std::vector<std::size_t> pivots;
};

struct Case {
    int ranks, threads;
    Parameters parameters;
};

std::string describe(const Case& it) {
    const Parameters& p = it.parameters;
    return fmt::format("N {} B {} grid {} x {} by rows {} of {} ranks x {} threads, weights {}, panels {} {} {} {}, "
                       "broadcast {}, swap {} {}, look-ahead {}",
                       p.size, p.block, p.grid.rows, p.grid.columns, p.grid.by_rows, it.ranks, it.threads, p.weights,
                       static_cast<int>(p.variant.recursive), p.variant.parts, static_cast<int>(p.variant.leaf),
                       p.variant.least, static_cast<int>(p.travel.broadcast), static_cast<int>(p.travel.swap),
                       p.travel.exchanged_columns, static_cast<int>(p.look_ahead));
}

void expect_solved(const Case& it) {
    SCOPED_TRACE(describe(it));
    const Textbook expected(it.parameters.size);
    tests::run_programs({.ranks = it.ranks, .crowded = true, .threads = it.threads}, [&](int rank) {
        Job job;
        kernels::set_blas_threads(1);
        const Outcome outcome = run(job, it.parameters);
        if (rank >= it.parameters.grid.size()) return;
        ASSERT_TRUE(outcome.residual.has_value());
        EXPECT_LT(outcome.residual->scaled, 16);
        EXPECT_EQ(outcome.pivots, expected.pivots);
        ASSERT_EQ(outcome.solution.size(), expected.x.size());
        const double largest = outcome.residual->solution_infinity;
        for (std::size_t i = 0; i < expected.x.size(); ++i)
            ASSERT_NEAR(outcome.solution[i], expected.x[i], 1e-7 * largest) << i;
    });
}

Parameters usual(std::size_t size, std::size_t block, int rows, int columns) {
    return {size, block, {rows, columns, true}, {}, {}, 16, {}};
}

TEST(Lu, OfSizesAtTheEdges) {
    for (const std::size_t size : {0u, 1u, 2u, 7u, 8u, 9u, 16u}) {
        expect_solved({1, 1, usual(size, 8, 1, 1)});
        expect_solved({4, 1, usual(size, 8, 2, 2)});
    }
}

TEST(Lu, WithRanksThatHaveNoColumnOrNoRow) {
    expect_solved({4, 1, usual(20, 8, 1, 4)});
    expect_solved({4, 1, usual(20, 8, 4, 1)});
    expect_solved({3, 1, usual(1, 8, 1, 3)});
    Parameters weighted = usual(70, 8, 1, 3);
    weighted.weights = {0, 1, 2};
    expect_solved({3, 1, weighted});
}

TEST(Lu, WithABlockThatIsWiderThanTheMatrix) {
    for (const std::size_t size : {0u, 1u, 10u}) {
        const Layout layout = Layout::of(size, 8000, {2, 2, true});
        EXPECT_EQ(layout.block(), size + 1);
        EXPECT_EQ(layout.columns.blocks(), 1u) << "the right side is on another process column";
        expect_solved({4, 1, usual(size, 8000, 2, 2)});
    }
}

TEST(Lu, LeavesRanksAsideThatTheGridDoesNotNeed) { expect_solved({5, 1, usual(40, 8, 2, 2)}); }

TEST(Lu, WithSeveralThreadsAndSlabs) {
    constexpr std::size_t size = tests::sanitized ? 300 : 600;
    expect_solved({1, 3, usual(size, 32, 1, 1)});
    expect_solved({2, 2, usual(size, 32, 2, 1)});
    expect_solved({2, 2, usual(size, 32, 1, 2)});
}

class RandomLu : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomLu, IsRight) {
    tests::Random random(GetParam());
    Parameters parameters = usual(random.between<std::size_t>(1, 150), random.between<std::size_t>(1, 40),
                                  random.between(1, 3), random.between(1, 3));
    parameters.grid.by_rows = random.once_in(2);
    const auto looking = [&] { return static_cast<Looking>(random.between(0, 2)); };
    parameters.variant = {looking(), random.between<std::size_t>(2, 4), looking(), random.between<std::size_t>(1, 10)};
    if (random.once_in(2)) {
        for (int column = 0; column < parameters.grid.columns; ++column)
            parameters.weights.push_back(random.between(0, 3));
        parameters.weights.back() = 1;
    }
    parameters.look_ahead = static_cast<LookAhead>(random.between(0, 3));
    expect_solved({static_cast<int>(parameters.grid.size()), random.between(1, 2), parameters});
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLu, testing::Range<std::uint64_t>(0, 24));

/// Of the updates of a rank of one thread that makes a product for the columns of the next panel, if these are its own,
/// and one for the others.
std::size_t fewest_products(const Layout& layout, int column) {
    std::size_t count = 0;
    for (std::size_t step = 0; step + 1 < layout.steps(); ++step) {
        const bool next = layout.columns.owner(step + 1) == column;
        const std::size_t behind =
            layout.columns.local_length(column) - layout.columns.local_begin(column, step + (next ? 2 : 1));
        count += (next ? 1 : 0) + (behind == 0 ? 0 : 1);
    }
    return count;
}

TEST(LookAhead, MakesOneProductOfWhatItNeedNotCut) {
    Parameters parameters = usual(600, 20, 1, 2);
    const std::size_t fewest =
        fewest_products(Layout::of(600, 20, {1, 2, true}), 0) + fewest_products(Layout::of(600, 20, {1, 2, true}), 1);
    const auto products = [&](Job& job, LookAhead look_ahead) {
        parameters.look_ahead = look_ahead;
        const Outcome outcome = run(job, parameters);
        EXPECT_LT(outcome.residual->scaled, 16);
        return job.all_reduce(outcome.products, Operation::sum);
    };
    tests::run_programs({.ranks = 2}, [&](int) {
        Job job;
        kernels::set_blas_threads(1);
        EXPECT_EQ(products(job, LookAhead::thread), fewest);
        EXPECT_EQ(products(job, LookAhead::tiles), fewest);
        EXPECT_LT(products(job, LookAhead::none), fewest);
        // A rank cuts its product until it has the panel that the other one makes meanwhile.
        EXPECT_GT(products(job, LookAhead::chopped), fewest);
    });
}

TEST(Residual, OfAWrongSolutionIsLarge) {
    tests::run_programs({.ranks = 2}, [](int) {
        Job job;
        const Outcome outcome = run(job, usual(50, 8, 1, 2));
        Place place(job, {1, 2, true});
        Team team(job);
        const Layout layout = Layout::of(50, 8, {1, 2, true});
        std::vector<double> x = outcome.solution;
        EXPECT_DOUBLE_EQ(residual_of(place, layout, Generator(50), team, x).scaled, outcome.residual->scaled);
        x[31] += 1e-9;
        EXPECT_GT(residual_of(place, layout, Generator(50), team, x).scaled, 16);
        x[31] = NAN;
        EXPECT_FALSE(residual_of(place, layout, Generator(50), team, x).scaled < 16);
    });
}

/// As if a product had been computed wrongly. In the last block process row 0 has no rows, and what row 1 proposes is
/// no number, so that no comparison with it holds.
TEST(Factorisation, ChoosesRowsThatExistWhereElementsAreNoNumbers) {
    tests::run_programs({.ranks = 2}, [](int) {
        kernels::set_blas_threads(1);
        constexpr std::size_t size = 32;
        Job job;
        Place place(job, {2, 1, true});
        Team team(job);
        const Layout layout = Layout::of(size, 16, place.grid());
        const LocalMatrix matrix(layout.rows.local_length(place.row()), layout.columns.local_length(0));
        Factorisation factorisation(place, layout, matrix, team, {}, {});
        fill(matrix, place, layout, Generator(size), team);
        for (std::size_t row = 0; row < matrix.rows(); ++row) *matrix.at(row, 20) = NAN;
        factorisation.run();
        EXPECT_LT(*std::ranges::max_element(factorisation.pivots()), size);
        const std::vector<double> x = back_substitute(place, layout, matrix);
        EXPECT_FALSE(residual_of(place, layout, Generator(size), team, x).scaled < 16);
    });
}

TEST(Residual, FollowsHplsFormula) {
    const std::size_t n = 30;
    const Textbook textbook(n);
    const Generator generator(n);
    double difference = 0, rows = 0, right_side = 0, solution = 0, sum = 0;
    std::vector<double> columns(n), line(n + 1);
    for (std::size_t row = 0; row < n; ++row) {
        generator.fill(row, 0, n + 1, line.data());
        double product = 0, size = 0;
        for (std::size_t j = 0; j < n; ++j) {
            product += line[j] * textbook.x[j];
            size += std::abs(line[j]);
            columns[j] += std::abs(line[j]);
        }
        difference = std::max(difference, std::abs(product - line[n]));
        rows = std::max(rows, size);
        right_side = std::max(right_side, std::abs(line[n]));
        solution = std::max(solution, std::abs(textbook.x[row]));
        sum += std::abs(textbook.x[row]);
    }
    tests::run_programs({.ranks = 4}, [&](int) {
        Job job;
        Place place(job, {2, 2, false});
        Team team(job);
        const Residual residual = residual_of(place, Layout::of(n, 7, {2, 2, false}), generator, team, textbook.x);
        EXPECT_NEAR(residual.difference, difference, 1e-13);
        EXPECT_NEAR(residual.matrix_infinity, rows, 1e-12);
        EXPECT_NEAR(residual.matrix_one, *std::ranges::max_element(columns), 1e-12);
        EXPECT_DOUBLE_EQ(residual.right_side, right_side);
        EXPECT_DOUBLE_EQ(residual.solution_infinity, solution);
        EXPECT_DOUBLE_EQ(residual.solution_one, sum);
        EXPECT_NEAR(residual.scaled,
                    residual.difference / (0x1p-53 * (rows * solution + right_side) * static_cast<double>(n)), 1e-9);
    });
}

} // namespace
} // namespace kumiki::linpack
