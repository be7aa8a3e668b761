#include "kernels/lu/problem.hpp"

#include <algorithm>

namespace kumiki::kernels::lu {

double Problem::operations() const {
    const auto n = static_cast<double>(size);
    return n * n * n * 2 / 3 - n * n / 2 - n / 6; // multiplications, additions and divisions
}

double Problem::times(std::size_t row, const double* vector) const {
    double sum = 0;
    for (std::size_t column = 0; column < size; ++column) sum += element(row, column) * vector[column];
    return sum;
}

BlockPlan Ownership::plan(std::size_t block_length) const {
    BlockPlan plan{
        blocks_ * blocks_, block_length, [self = *this](std::size_t number) { return self.owner(number); }, {}};
    for (std::size_t k = 0; k < blocks_; ++k) {
        std::vector<int> readers = owners_below(k, k);
        std::ranges::copy(owners_right_of(k, k), std::back_inserter(readers));
        plan.rounds.push_back({{number(k, k), readers}});
        auto& edges = plan.rounds.emplace_back();
        for (std::size_t other = k + 1; other < blocks_; ++other) {
            edges.push_back({number(other, k), owners_right_of(other, k)});
            edges.push_back({number(k, other), owners_below(k, other)});
        }
    }
    return plan;
}

/// The owners of the blocks of column `j` below row `k`; they repeat after as many rows as the grid has.
std::vector<int> Ownership::owners_below(std::size_t k, std::size_t j) const {
    std::vector<int> owners;
    for (std::size_t i = k + 1; i < std::min(blocks_, k + 1 + grid_.rows); ++i) owners.push_back(owner(i, j));
    return owners;
}

/// The owners of the blocks of row `i` to the right of column `k`.
std::vector<int> Ownership::owners_right_of(std::size_t i, std::size_t k) const {
    std::vector<int> owners;
    for (std::size_t j = k + 1; j < std::min(blocks_, k + 1 + grid_.columns); ++j) owners.push_back(owner(i, j));
    return owners;
}

} // namespace kumiki::kernels::lu
