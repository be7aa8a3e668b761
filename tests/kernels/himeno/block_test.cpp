#include "kernels/himeno/block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace kumiki::kernels::himeno {
namespace {

/// The benchmark by its definition, in double precision: whole arrays, one index for each dimension.
class Textbook {
public:
    explicit Textbook(const Problem& problem)
        : problem_(problem), old_(problem.planes * problem.rows * problem.columns), new_(old_) {
        for (std::size_t i = 0; i < problem.planes; ++i)
            for (std::size_t j = 0; j < problem.rows; ++j)
                for (std::size_t k = 0; k < problem.columns; ++k) {
                    const double along = static_cast<double>(i) / static_cast<double>(problem.planes - 1);
                    p(i, j, k) = along * along;
                }
        new_ = old_;
    }
    /// With the benchmark's values a = 1, 1, 1, 1/6, b = 0, c = 1, wrk1 = 0 and bnd = 1.
    double sweep() {
        double gosa = 0;
        for (std::size_t i = 1; i + 1 < problem_.planes; ++i)
            for (std::size_t j = 1; j + 1 < problem_.rows; ++j)
                for (std::size_t k = 1; k + 1 < problem_.columns; ++k) {
                    const double sum = p(i + 1, j, k) + p(i, j + 1, k) + p(i, j, k + 1) + p(i - 1, j, k) +
                                       p(i, j - 1, k) + p(i, j, k - 1);
                    const double residual = sum / 6 - p(i, j, k);
                    gosa += residual * residual;
                    new_[at(i, j, k)] = p(i, j, k) + 0.8 * residual;
                }
        old_ = new_;
        return gosa;
    }
    double& p(std::size_t i, std::size_t j, std::size_t k) { return old_[at(i, j, k)]; }

private:
    std::size_t at(std::size_t i, std::size_t j, std::size_t k) const {
        return (i * problem_.rows + j) * problem_.columns + k;
    }
    Problem problem_;
    std::vector<double> old_, new_;
};

/// A grid cut for some workers, swept one worker after another; edges are passed on as the cut says.
class Crowd {
public:
    Crowd(const Problem& problem, int workers, Split split) : cut_(cut_of(problem, workers, split)) {
        for (int worker = 0; worker < workers; ++worker)
            blocks_.push_back(std::make_unique<Block>(problem, cut_.tile(worker)));
        kept_.resize(blocks_.size() * side_count);
    }
    double sweep() {
        for (const Sides sides : {Sides::west_east, Sides::north_south}) hand_over(sides);
        double gosa = 0;
        for (auto& block : blocks_) gosa += block->sweep();
        return gosa;
    }
    void reset() {
        for (auto& block : blocks_) block->reset();
    }
    std::uint64_t checksum() const {
        std::uint64_t sum = 0;
        for (const auto& block : blocks_) sum += block->checksum();
        return sum;
    }

private:
    void hand_over(Sides sides) {
        const auto each = [&](auto visit) {
            for (std::size_t worker = 0; worker < blocks_.size(); ++worker)
                for (const auto& [side, link] : cut_.neighbours(static_cast<int>(worker), sides))
                    visit(worker, side, link);
        };
        each([&](std::size_t worker, Side side, const Link& link) {
            const auto edge = blocks_[worker]->edge(side);
            kept(link.partner, link.partner_line).assign(edge.begin(), edge.end());
        });
        each([&](std::size_t worker, Side side, const Link& link) {
            blocks_[worker]->accept(side, kept(static_cast<int>(worker), link.line).data());
        });
    }
    std::vector<float>& kept(int worker, int line) {
        return kept_[static_cast<std::size_t>(worker * side_count + line)];
    }

    Cut cut_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<std::vector<float>> kept_;
};

TEST(Block, sweeps_as_the_benchmark_is_defined) {
    for (const Problem& problem : {Problem{"a", 3, 3, 3}, Problem{"b", 7, 5, 20}, Problem{"c", 12, 9, 33}}) {
        Textbook textbook(problem);
        Block block(problem, {{1, problem.planes - 1}, {1, problem.rows - 1}});
        for (int sweep = 0; sweep < 7; ++sweep) {
            const double wanted = textbook.sweep();
            EXPECT_NEAR(block.sweep(), wanted, 1e-4 * wanted + 1e-11) << problem.name << ", sweep " << sweep;
        }
        const auto edge = block.edge(Side::south); // the last plane inside the boundary, with the rows of the boundary
        const std::size_t pitch = edge.size() / problem.rows;
        for (std::size_t j = 0; j < problem.rows; ++j)
            for (std::size_t k = 0; k < problem.columns; ++k)
                EXPECT_NEAR(edge[j * pitch + k], textbook.p(problem.planes - 2, j, k), 1e-6) << j << ", " << k;
    }
}

/// Coefficients and pressures of all kinds, because the benchmark's own are mostly 0 and 1.
TEST(RelaxRow, uses_every_coefficient_and_neighbour) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> number(-1, 1);
    constexpr std::size_t strips = 2, columns = strips * strip_columns;
    std::vector<Coefficients> coefficients(strips);
    for (auto& [a, b, c, wrk1, bnd] : coefficients)
        for (std::size_t lane = 0; lane < strip_columns; ++lane) {
            for (auto& strip : a) strip[lane] = number(random);
            for (auto& strip : b) strip[lane] = number(random);
            for (auto& strip : c) strip[lane] = number(random);
            wrk1[lane] = number(random);
            bnd[lane] = number(random);
        }
    std::vector<std::vector<float>> rows(9, std::vector<float>(columns + 2));
    for (auto& row : rows)
        for (float& value : row) value = number(random);
    const auto p = [&](int plane, int row, std::size_t column) { // columns are counted from the first computed one
        return static_cast<double>(rows[static_cast<std::size_t>(3 * plane + row + 4)][column]);
    };
    const auto at = [&](int number_of_row) { return rows[static_cast<std::size_t>(number_of_row)].data() + 1; };
    std::vector<float> next(columns);
    const double gosa = relax_row(next.data(), {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8)},
                                  coefficients.data(), strips);
    double wanted_gosa = 0;
    for (std::size_t column = 0; column < columns; ++column) {
        const auto& [a, b, c, wrk1, bnd] = coefficients[column / strip_columns];
        const std::size_t lane = column % strip_columns, k = column + 1;
        const double sum = a[0][lane] * p(1, 0, k) + a[1][lane] * p(0, 1, k) + a[2][lane] * p(0, 0, k + 1) +
                           b[0][lane] * (p(1, 1, k) - p(1, -1, k) - p(-1, 1, k) + p(-1, -1, k)) +
                           b[1][lane] * (p(0, 1, k + 1) - p(0, -1, k + 1) - p(0, 1, k - 1) + p(0, -1, k - 1)) +
                           b[2][lane] * (p(1, 0, k + 1) - p(-1, 0, k + 1) - p(1, 0, k - 1) + p(-1, 0, k - 1)) +
                           c[0][lane] * p(-1, 0, k) + c[1][lane] * p(0, -1, k) + c[2][lane] * p(0, 0, k - 1) +
                           wrk1[lane];
        const double residual = (sum * a[3][lane] - p(0, 0, k)) * bnd[lane];
        EXPECT_NEAR(next[column], p(0, 0, k) + 0.8 * residual, 1e-5) << column;
        wanted_gosa += residual * residual;
    }
    EXPECT_NEAR(gosa, wanted_gosa, 1e-5 * wanted_gosa);
}

TEST(Block, any_cut_gives_the_same_grid) {
    const Problem problem{"odd", 11, 8, 19};
    Block whole(problem, {{1, problem.planes - 1}, {1, problem.rows - 1}});
    std::vector<std::unique_ptr<Crowd>> crowds;
    for (const int workers : {1, 2, 3, 9}) crowds.push_back(std::make_unique<Crowd>(problem, workers, Split::rows));
    for (const int workers : {2, 4, 6, 9, 54})
        crowds.push_back(std::make_unique<Crowd>(problem, workers, Split::tiles));
    for (int sweep = 0; sweep < 6; ++sweep) {
        const double gosa = whole.sweep();
        for (auto& crowd : crowds) {
            EXPECT_NEAR(crowd->sweep(), gosa, 1e-6 * gosa);
            ASSERT_EQ(crowd->checksum(), whole.checksum()) << "sweep " << sweep;
        }
    }
}

TEST(Block, reset_begins_anew) {
    const Problem problem{"small", 8, 8, 16};
    Crowd crowd(problem, 4, Split::tiles);
    const std::uint64_t at_first = crowd.checksum();
    for (int sweep = 0; sweep < 3; ++sweep) crowd.sweep();
    const std::uint64_t after_three = crowd.checksum();
    EXPECT_NE(after_three, at_first);
    crowd.reset();
    EXPECT_EQ(crowd.checksum(), at_first);
    for (int sweep = 0; sweep < 3; ++sweep) crowd.sweep();
    EXPECT_EQ(crowd.checksum(), after_three);
}

} // namespace
} // namespace kumiki::kernels::himeno
