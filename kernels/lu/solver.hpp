#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/mixed.hpp"
#include "kernels/crews/crew.hpp"
#include "kernels/lu/block.hpp"

namespace kumiki::kernels::lu {

/// The result of a run.
struct Result {
    std::uint64_t checksum = 0; ///< of all factors: the same bits for every number of workers
    double residual = 0;        ///< |L U x - A x| / (eps |A| |x| size) for a random vector x, in the maximum norm
    bool right() const { return residual < most_residual; } ///< false also for what is no number

    /// Rounding alone stays below it by far, because no element grows in a matrix with this diagonal. One block that is
    /// not subtracted once exceeds it a million times at size 1024, and hundreds of times at the largest size.
    static constexpr double most_residual = 1;
};

/// The factorisation on the workers of a crew, each with its blocks.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using Blocks = typename C::Blocks;
    static_assert(BlocksFor<Blocks, Worker>);

    /// Collective.
    Solver(C& crew, const Problem& problem, Touch touch)
        : crew_(crew),
          problem_(problem),
          touch_(touch),
          ownership_(problem, crew.size()),
          blocks_(crew, ownership_.plan(problem.block_length())) {}

    /// Writes the matrix and factorises it; returns the times of the factorisation.
    RunTimes run() {
        crew_.run([&](Worker& worker) { fill(worker); });
        return crew_.run([&](Worker& worker) {
            for (std::size_t k = 0; k < problem_.blocks(); ++k) take_step(worker, k);
        });
    }

    /// The result of the last run, at every rank.
    Result result() {
        Result result;
        crew_.run([&](Worker& worker) {
            const std::uint64_t checksum = worker.sum(checksum_of(worker));
            const std::vector<double> product = product_with(worker, random_vector());
            if (worker.local() == 0) result = {checksum, residual_of(product)};
        });
        return result;
    }

private:
    /// Calls visit(i, j) for the blocks of the worker from block (first, first) on.
    template <class Visit>
    void for_own(const Worker& worker, std::size_t first, Visit visit) {
        for (std::size_t i = first; i < problem_.blocks(); ++i)
            for (std::size_t j = first; j < problem_.blocks(); ++j)
                if (owns(worker, i, j)) visit(i, j);
    }
    bool owns(const Worker& worker, std::size_t i, std::size_t j) const {
        return ownership_.owner(i, j) == worker.index();
    }
    double* at(std::size_t i, std::size_t j) { return blocks_.at(ownership_.number(i, j)); }

    void fill(const Worker& worker) {
        const int first_here = worker.index() - worker.local();
        const auto writes = [&](int owner) {
            if (touch_ == Touch::owners) return owner == worker.index();
            if (blocks_.in_one_memory()) return worker.index() == 0;
            return worker.local() == 0 && owner >= first_here && owner < first_here + crew_.local_size();
        };
        for (std::size_t i = 0; i < problem_.blocks(); ++i)
            for (std::size_t j = 0; j < problem_.blocks(); ++j)
                if (writes(ownership_.owner(i, j))) fill_block(i, j);
    }
    void fill_block(std::size_t i, std::size_t j) {
        const std::size_t side = problem_.block;
        double* next = at(i, j);
        for (std::size_t row = i * side; row < (i + 1) * side; ++row)
            for (std::size_t column = j * side; column < (j + 1) * side; ++column)
                *next++ = problem_.element(row, column);
    }

    void take_step(Worker& worker, std::size_t k) {
        const std::size_t side = problem_.block, end = problem_.blocks();
        if (owns(worker, k, k)) factorise(at(k, k), side);
        if (k + 1 == end) return;
        blocks_.deliver(worker, 2 * k);
        for (std::size_t other = k + 1; other < end; ++other) {
            if (owns(worker, k, other)) solve_lower(at(k, k), at(k, other), side);
            if (owns(worker, other, k)) solve_upper(at(k, k), at(other, k), side);
        }
        blocks_.deliver(worker, 2 * k + 1);
        // The owner of the next diagonal block changes and then factorises it: no others have to wait for each other.
        for_own(worker, k + 1,
                [&](std::size_t i, std::size_t j) { subtract_product(at(i, k), at(k, j), at(i, j), side); });
    }

    std::uint64_t checksum_of(const Worker& worker) {
        std::uint64_t sum = 0;
        for_own(worker, 0, [&](std::size_t i, std::size_t j) {
            const std::uint64_t first = ownership_.number(i, j) * problem_.block_length();
            for (std::size_t n = 0; n < problem_.block_length(); ++n)
                sum += mixed(std::bit_cast<std::uint64_t>(at(i, j)[n]) ^ mixed(first + n));
        });
        return sum;
    }

    // -- the residual --

    /// Numbers of magnitude between 1/2 and 1, so that no wrong element can be hidden; one for each row of blocks.
    std::vector<double> random_vector() const {
        std::vector<double> x(problem_.blocks() * problem_.block, 0.0);
        for (std::size_t i = 0; i < problem_.size; ++i)
            x[i] =
                std::copysign(0.75 + static_cast<double>(mixed(i + 1) >> 12 & 0xff) / 1024, mixed(i + 1) & 1 ? 1 : -1);
        return x;
    }
    /// L (U x), at every worker.
    std::vector<double> product_with(Worker& worker, const std::vector<double>& x) {
        const auto upper = [](std::size_t row, std::size_t column) { return column >= row; };
        const auto lower = [](std::size_t row, std::size_t column) { return column < row; };
        const std::vector<double> ux = factor_times(worker, x, upper);
        std::vector<double> lux = factor_times(worker, ux, lower);
        for (std::size_t i = 0; i < lux.size(); ++i) lux[i] += ux[i]; // the diagonal of L is 1
        return lux;
    }
    /// The elements that `counts` (row, column) admits, times a vector: each worker adds up its blocks, and all of them
    /// the sums.
    template <class Counts>
    std::vector<double> factor_times(Worker& worker, const std::vector<double>& vector, Counts counts) {
        const std::size_t side = problem_.block;
        std::vector<double> product(vector.size(), 0.0);
        for_own(worker, 0, [&](std::size_t i, std::size_t j) {
            const double* next = at(i, j);
            for (std::size_t row = i * side; row < (i + 1) * side; ++row)
                for (std::size_t column = j * side; column < (j + 1) * side; ++column, ++next)
                    if (counts(row, column)) product[row] += *next * vector[column];
        });
        for (std::size_t begin = 0; begin < product.size(); begin += most_summed)
            worker.sum(std::span(product).subspan(begin, most_summed));
        return product;
    }
    double residual_of(const std::vector<double>& product) const {
        const std::vector<double> x = random_vector();
        double largest = 0;
        for (std::size_t row = 0; row < problem_.size; ++row) {
            const double difference = std::abs(product[row] - problem_.times(row, x.data()));
            largest = std::isnan(difference) ? difference : std::max(largest, difference); // max keeps a first NaN
        }
        const auto size = static_cast<double>(problem_.size);
        return largest / (std::numeric_limits<double>::epsilon() * 1.5 * size * size); // |A| <= 3/2 size, |x| <= 1
    }

    C& crew_;
    Problem problem_;
    Touch touch_;
    Ownership ownership_;
    Blocks blocks_;
};

} // namespace kumiki::kernels::lu
