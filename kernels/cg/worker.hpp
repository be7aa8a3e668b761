#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <span>

#include "kernels/cg/problem.hpp"
#include "kernels/cg/rows.hpp"
#include "kernels/cg/vectors.hpp"
#include "kernels/common/aligned.hpp"
#include "kernels/common/phases.hpp"

namespace kumiki::kernels::cg {

/// What a worker is busy with, as the COMPaS paper's Figure 13 has it, but with the waiting for sums apart from the
/// inner products.
enum class Step {
    product,  ///< of the matrix and the vector
    vectors,  ///< additions and inner products
    exchange, ///< of the vector between all workers
    sums      ///< over all workers, and the meeting at the end
};
inline constexpr std::size_t step_count = 4;
using Steps = Stopwatch<Step, step_count>;

/// The other workers, as one worker sees them. All members are called by every worker in the same order, when it has
/// written its rows of the shared vector, and end only when all workers have come to them.
template <class T>
concept Summing = requires(T partners, std::array<double, 4> sums) {
    /// Sums elementwise over all workers; everyone gets the same bits.
    { partners.sum(sums) } -> std::same_as<std::array<double, 4>>;
};
template <class T>
concept Sharing = requires(T partners) {
    partners.share(); ///< afterwards everyone sees all of the vector
};
template <class T>
concept Multiplying = requires(T partners, std::span<const double> vector, std::span<double> result, Steps& steps) {
    /// The worker's product, while the vector is on its way; tells what of that it is busy with.
    partners.multiply(vector, result, steps);
};
template <class T>
concept Partners = Summing<T> && (Sharing<T> || Multiplying<T>);

/// One worker (a thread of a rank, a process, or the only one) of the benchmark: all forms run exactly this code and
/// differ in their partners.
///
/// A step of the conjugate gradient method has one reduction and one exchange of p. The textbook's second reduction,
/// for the new r.r, is saved by r' = r - alpha q: r'.r' = r.r - 2 alpha r.q + alpha^2 q.q, whose products are taken
/// together with p.q. Because r.r itself is taken anew in every step, no error builds up.
class Worker {
public:
    /// `shared` is the vector that the matrix is multiplied with, of the matrix's order; this worker writes its rows of
    /// it.
    Worker(const Problem& problem, Rows rows, std::span<double> shared)
        : problem_(problem),
          rows_(std::move(rows)),
          shared_(shared),
          own_(shared.subspan(rows_.range().begin, rows_.range().size())),
          x_(own_.size()),
          z_(own_.size()),
          r_(own_.size()),
          q_(own_.size()) {}

    Range range() const { return rows_.range(); }
    const Rows& rows() const { return rows_; }

    /// The whole benchmark; returns zeta. It ends in the step `sums`, for the meeting that may follow.
    double estimate(Partners auto&& partners, Steps& steps) {
        steps.enter(Step::vectors);
        std::ranges::fill(x_, 1.0);
        double zeta = 0.0;
        for (int iteration = 0; iteration < problem_.iterations; ++iteration) {
            const auto [xz, zz, residual] = solve(partners, steps);
            zeta = problem_.shift + 1.0 / xz;
            const double scale = 1.0 / std::sqrt(zz);
            std::ranges::transform(z_, x_.begin(), [=](double z) { return scale * z; });
            last_residual_ = std::sqrt(residual);
        }
        steps.enter(Step::sums);
        return zeta;
    }

    /// |x - A z| of the last power iteration.
    double last_residual() const { return last_residual_; }

private:
    /// z = A^-1 x, approximately.
    std::array<double, 3> solve(Partners auto& partners, Steps& steps) {
        std::ranges::fill(z_, 0.0);
        std::ranges::copy(x_, r_.begin());
        std::ranges::copy(x_, own_.begin());
        for (int iteration = 0; iteration < Problem::inner_iterations; ++iteration) {
            multiply(partners, steps);
            const auto [pq, rq, qq, rr] = summed(partners, step_products(own_, q_, r_), steps);
            const double alpha = rr / pq;
            const double rr_next = rr - 2.0 * alpha * rq + alpha * alpha * qq;
            step(alpha, rr_next / rr, q_, z_, r_, own_);
        }
        // The last p is of no use any more, so z takes its place.
        std::ranges::copy(z_, own_.begin());
        multiply(partners, steps);
        return summed(partners, solution_products(x_, z_, q_), steps);
    }

    template <std::size_t N>
    static std::array<double, N> summed(Partners auto& partners, const std::array<double, N>& values, Steps& steps) {
        steps.enter(Step::sums);
        const auto total = partners.sum(values);
        steps.enter(Step::vectors);
        return total;
    }

    /// q = A times the shared vector.
    void multiply(Partners auto& partners, Steps& steps) {
        steps.enter(Step::exchange);
        if constexpr (Multiplying<decltype(partners)>) {
            partners.multiply(shared_, q_, steps);
        } else {
            partners.share();
            steps.enter(Step::product);
            rows_.multiply(shared_, q_);
        }
        steps.enter(Step::vectors);
    }

    Problem problem_;
    Rows rows_;
    std::span<double> shared_, own_;
    AlignedVector<double> x_, z_, r_, q_;
    double last_residual_ = 0.0;
};

} // namespace kumiki::kernels::cg
