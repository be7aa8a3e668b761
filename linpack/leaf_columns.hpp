#pragma once

#include <cstddef>

#include "kernels/common/aligned.hpp"
#include "linpack/lead.hpp"
#include "linpack/panel.hpp"

namespace kumiki::linpack {

/// A few columns of a panel while they are factored one by one: a copy by columns, without gaps, so that a loop over
/// the rows of a column, of which there are many, runs over neighbouring elements. Rows and columns are numbered as in
/// the panel.
class LeafColumns {
public:
    /// Room for columns of at most `rows` rows, `columns` of them.
    LeafColumns(std::size_t rows, std::size_t columns) : lead_(lead_for(rows)), elements_(lead_ * columns) {}

    /// Copies rows [first_row, panel_rows) of columns [begin, end).
    void load(const Panel& panel, std::size_t first_row, std::size_t panel_rows, std::size_t begin, std::size_t end);
    /// Writes rows [from, panel_rows) back.
    void store(const Panel& panel, std::size_t from) const;
    void load_row(const Panel& panel, std::size_t row);
    void store_row(const Panel& panel, std::size_t row) const;

    /// The row of [from, panel_rows) whose element is the largest in absolute value, the first of several. There is at
    /// least one row. If some elements are NaN, it is any of the rows.
    std::size_t largest(std::size_t column, std::size_t from) const;
    double at(std::size_t row, std::size_t column) const { return *element(row, column); }
    void scale(std::size_t column, std::size_t from, double factor);
    /// columns [begin, end) -= columns [done, done_end) x the rows `top` (row k of it for column k), in rows [from,
    /// panel_rows).
    struct Update {
        std::size_t done, done_end, begin, end, from;
    };
    void subtract(const Update& update, const Panel& panel);

private:
    double* element(std::size_t row, std::size_t column) {
        return elements_.data() + (column - begin_) * lead_ + (row - first_row_);
    }
    const double* element(std::size_t row, std::size_t column) const {
        return elements_.data() + (column - begin_) * lead_ + (row - first_row_);
    }

    std::size_t lead_; ///< elements from column to column
    kernels::AlignedVector<double> elements_;
    std::size_t first_row_ = 0, rows_ = 0, begin_ = 0, end_ = 0;
};

} // namespace kumiki::linpack
