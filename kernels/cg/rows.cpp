#include "kernels/cg/rows.hpp"

#include <limits>

#if KUMIKI_HAS_HIGHWAY
#include <hwy/highway.h>
#endif

namespace kumiki::kernels::cg {
namespace {

/// Rows are filled up to a multiple of this: the doubles in the widest vector register.
constexpr std::size_t lanes = 8;

#if KUMIKI_HAS_HIGHWAY

// The gather is written out because the compiler (gcc 12) splits the plain loop into four halves with spilled sums, at
// half the speed.
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, lanes>;
using Indices = hn::RebindToSigned<Doubles>;

auto load_columns(const std::uint16_t* columns) {
    const auto narrow = hn::LoadU(hn::Rebind<std::uint16_t, Doubles>(), columns);
    return hn::PromoteTo(Indices(), hn::PromoteTo(hn::Rebind<std::int32_t, Doubles>(), narrow));
}
auto load_columns(const std::uint32_t* columns) {
    const hn::Rebind<std::int32_t, Doubles> d; // orders beyond 2^31 would not fit any memory
    return hn::PromoteTo(Indices(), hn::LoadU(d, reinterpret_cast<const std::int32_t*>(columns)));
}

template <class Column>
double row_product(const Column* columns, const double* values, std::size_t count, const double* vector) {
    const Doubles d;
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < count; k += hn::Lanes(d))
        sum = hn::MulAdd(hn::Load(d, values + k), hn::GatherIndex(d, vector, load_columns(columns + k)), sum);
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

#else

template <class Column>
double row_product(const Column* columns, const double* values, std::size_t count, const double* vector) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < count; ++k) sum += values[k] * vector[columns[k]];
    return sum;
}

#endif

} // namespace

Rows::Rows(Range rows, std::size_t order) : rows_(rows), order_(order) {
    if (order > std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1) columns_.emplace<WideColumns>();
}

void Rows::append(std::span<const std::uint32_t> columns, std::span<const double> values) {
    nonzeros_ += values.size();
    const std::size_t filled = (begins_.back() + values.size() + lanes - 1) / lanes * lanes;
    values_.insert(values_.end(), values.begin(), values.end());
    values_.resize(filled, 0.0);
    std::visit(
        [&]<class Columns>(Columns& kept) {
            for (const std::uint32_t column : columns)
                kept.push_back(static_cast<typename Columns::value_type>(column));
            kept.resize(filled,
                        columns.empty() ? 0 : kept.back()); // the column of an element that is already in a register
        },
        columns_);
    begins_.push_back(filled);
}

/// The entries in those columns for which keep(column) is true.
template <class Keep>
Rows Rows::kept(Keep keep) const {
    Rows made(rows_, order_);
    std::vector<std::uint32_t> kept_columns;
    std::vector<double> kept_values;
    std::visit(
        [&](const auto& columns) {
            for (std::size_t row = 0; row < rows_.size(); ++row) {
                kept_columns.clear();
                kept_values.clear();
                for (std::size_t k = begins_[row]; k < begins_[row + 1]; ++k) {
                    const bool filled_up = k > begins_[row] && columns[k] == columns[k - 1];
                    if (filled_up || !keep(columns[k])) continue;
                    kept_columns.push_back(columns[k]);
                    kept_values.push_back(values_[k]);
                }
                made.append(kept_columns, kept_values);
            }
        },
        columns_);
    return made;
}

Rows Rows::only(Range columns) const {
    return kept([=](std::size_t column) { return column >= columns.begin && column < columns.end; });
}

Rows Rows::without(Range columns) const {
    return kept([=](std::size_t column) { return column < columns.begin || column >= columns.end; });
}

/// Calls take(row, product) for each row; rows are counted from 0.
template <class Take>
void Rows::for_products(std::span<const double> vector, Take take) const {
    std::visit(
        [&](const auto& columns) {
            for (std::size_t row = 0; row < rows_.size(); ++row)
                take(row, row_product(columns.data() + begins_[row], values_.data() + begins_[row],
                                      begins_[row + 1] - begins_[row], vector.data()));
        },
        columns_);
}

void Rows::multiply(std::span<const double> vector, std::span<double> result) const {
    for_products(vector, [&](std::size_t row, double product) { result[row] = product; });
}

void Rows::multiply_add(std::span<const double> vector, std::span<double> result) const {
    for_products(vector, [&](std::size_t row, double product) { result[row] += product; });
}

} // namespace kumiki::kernels::cg
