#include "kernels/cg/generator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/common/npb_random.hpp"
#include "kernels/common/balance.hpp"

namespace kumiki::kernels::cg {
namespace {

constexpr double smallest_weight = 0.1; // the benchmark's rcond

/// One row under construction: sums by column, the list of columns in use, and a way to clear it at a cost that depends
/// only on its contents.
class Accumulator {
public:
    explicit Accumulator(std::size_t columns) : sums_(columns, 0.0), present_(columns, false) {}

    void add(std::uint32_t column, double value) {
        if (!present_[column]) {
            present_[column] = true;
            columns_.push_back(column);
        }
        sums_[column] += value;
    }
    void append_to(Rows& rows) {
        std::ranges::sort(columns_);
        values_.clear();
        for (const std::uint32_t column : columns_) {
            values_.push_back(sums_[column]);
            sums_[column] = 0.0;
            present_[column] = false;
        }
        rows.append(columns_, values_);
        columns_.clear();
    }

private:
    std::vector<double> sums_, values_;
    std::vector<bool> present_;
    std::vector<std::uint32_t> columns_;
};

} // namespace

Generator::Generator(const Problem& problem) : problem_(problem) {
    NpbRandom random;
    random(); // the benchmark draws one number before the matrix
    const auto range = static_cast<double>(std::bit_ceil(problem.order));
    const double ratio = std::pow(smallest_weight, 1.0 / static_cast<double>(problem.order));
    double weight = 1.0;
    begins_.push_back(0);
    for (std::uint32_t i = 0; i < problem.order; ++i) {
        const std::size_t begin = entries_.size();
        const auto find = [&](std::uint32_t index) {
            return std::find_if(entries_.begin() + static_cast<std::ptrdiff_t>(begin), entries_.end(),
                                [=](const Entry& entry) { return entry.index == index; });
        };
        while (entries_.size() < begin + static_cast<std::size_t>(problem.nonzeros)) {
            const double value = random();
            const auto index = static_cast<std::uint32_t>(range * random());
            if (index < problem.order && find(index) == entries_.end()) entries_.push_back({index, value});
        }
        // The diagonal element is always 1/2, so that the diagonal is full.
        if (const auto own = find(i); own != entries_.end()) own->value = 0.5;
        else entries_.push_back({i, 0.5});
        begins_.push_back(entries_.size());
        weights_.push_back(weight);
        weight *= ratio;
    }
}

std::vector<Range> Generator::balanced_rows(int parts) const {
    // Vectors have nonzeros in the same place so rarely that the number of products is a good estimate of the number of
    // nonzeros.
    std::vector<std::uint64_t> products(problem_.order, 0);
    for (std::size_t i = 0; i < problem_.order; ++i)
        for (const Entry& entry : vector(i)) products[entry.index] += vector(i).size();
    return balanced_parts(products, parts);
}

std::vector<std::vector<Generator::Occurrence>> Generator::occurrences(Range rows) const {
    std::vector<std::vector<Occurrence>> found(rows.size());
    for (std::uint32_t i = 0; i < problem_.order; ++i)
        for (const Entry& entry : vector(i))
            if (entry.index >= rows.begin && entry.index < rows.end)
                found[entry.index - rows.begin].push_back({i, entry.value});
    return found;
}

Rows Generator::multiply_out(Range rows) const {
    Rows made(rows, problem_.order);
    Accumulator accumulator(problem_.order);
    const auto vectors_of_row = occurrences(rows);
    for (auto row = static_cast<std::uint32_t>(rows.begin); row < rows.end; ++row) {
        for (const auto& [i, value] : vectors_of_row[row - rows.begin]) {
            const double scale = weights_[i] * value;
            for (const Entry& entry : vector(i)) accumulator.add(entry.index, entry.value * scale);
        }
        accumulator.add(row, smallest_weight - problem_.shift);
        accumulator.append_to(made);
    }
    return made;
}

} // namespace kumiki::kernels::cg
