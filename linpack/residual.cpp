#include "linpack/residual.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kumiki::linpack {

namespace {

using Vector = std::vector<double>;

/// The largest absolute value; infinity where one is no number, so that no wrong result looks right.
double largest(std::span<const double> values) {
    double most = 0;
    for (const double value : values) most = std::isnan(value) ? HUGE_VAL : std::max(most, std::abs(value));
    return most;
}

/// Sums over the elements of this rank.
struct Sums {
    Vector difference; ///< by own row: b - A x
    Vector rows;       ///< by own row: |A|
    Vector right_side; ///< by own row: b
    Vector columns;    ///< by own column: |A|
};

/// A piece of a row: the elements of one block column.
struct Piece {
    std::size_t row, block;
};

/// Goes through this rank's elements, made again.
class Pass {
public:
    Pass(const Place& place, const Layout& layout, const Generator& generator, std::span<const double> x)
        : place_(place), layout_(layout), generator_(generator), x_(x) {}

    std::size_t rows() const { return layout_.rows.local_length(place_.row()); }
    std::size_t columns() const { return layout_.columns.local_length(place_.column()); }

    /// Adds some rows of this rank to the sums by row, and to `columns`.
    void add(const Part& rows, Sums& sums, Vector& columns) const {
        Vector elements(layout_.block());
        for (std::size_t row = rows.begin; row < rows.end; ++row)
            for (const std::size_t block : layout_.columns.blocks_of(place_.column()))
                add(Piece{row, block}, elements, sums, columns.data() + begin_of(block));
    }

private:
    std::size_t begin_of(std::size_t block) const { return layout_.columns.local_begin(place_.column(), block); }

    void add(const Piece& piece, Vector& elements, Sums& sums, double* columns) const {
        const std::size_t column = layout_.columns.begin(piece.block), width = layout_.columns.width(piece.block);
        const std::size_t of_matrix = std::min(width, layout_.size() - column); // the last column is b
        generator_.fill(layout_.rows.global_of(place_.row(), piece.row), column, width, elements.data());
        double product = 0, size = 0;
        for (std::size_t i = 0; i < of_matrix; ++i) {
            product += elements[i] * x_[column + i];
            size += std::abs(elements[i]);
            columns[i] += std::abs(elements[i]);
        }
        sums.difference[piece.row] -= product;
        sums.rows[piece.row] += size;
        if (of_matrix == width) return;
        sums.difference[piece.row] += elements[of_matrix];
        sums.right_side[piece.row] = elements[of_matrix];
    }

    const Place& place_;
    const Layout& layout_;
    const Generator& generator_;
    std::span<const double> x_;
};

/// Each row falls to one thread; columns are summed by each thread, and then together.
Sums sums_of(const Pass& pass, Team& team) {
    Sums sums{Vector(pass.rows()), Vector(pass.rows()), Vector(pass.rows()), Vector(pass.columns())};
    std::vector<Vector> columns(static_cast<std::size_t>(team.size()), sums.columns);
    team.run([&](Member& member) {
        pass.add(member.part(pass.rows()), sums, columns[static_cast<std::size_t>(member.thread())]);
    });
    for (const Vector& by_thread : columns)
        for (std::size_t i = 0; i < by_thread.size(); ++i) sums.columns[i] += by_thread[i];
    return sums;
}

/// The largest sum, where each rank of `summed` has a part of every sum, and the ranks of `others` have other sums.
double largest_sum(Vector& sums, Group& summed, Group& others) {
    summed.all_reduce(sums, Operation::sum);
    return others.all_reduce(largest(sums), Operation::max);
}

} // namespace

Residual residual_of(Place& place, const Layout& layout, const Generator& generator, Team& team,
                     std::span<const double> x) {
    Sums sums = sums_of(Pass(place, layout, generator, x), team);
    Group &row = place.along_row(), &column = place.along_column();
    Residual residual;
    residual.difference = largest_sum(sums.difference, row, column);
    residual.matrix_infinity = largest_sum(sums.rows, row, column);
    residual.right_side = largest_sum(sums.right_side, row, column);
    residual.matrix_one = largest_sum(sums.columns, column, row);
    residual.solution_infinity = largest(x);
    for (const double value : x) residual.solution_one += std::abs(value);
    if (!x.empty())
        residual.scaled = residual.difference /
                          (rounding * (residual.matrix_infinity * residual.solution_infinity + residual.right_side) *
                           static_cast<double>(x.size()));
    return residual;
}

} // namespace kumiki::linpack
