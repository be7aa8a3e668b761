#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cg/columns.hpp"
#include "kernels/cg/generator.hpp"
#include "kernels/cg/problem.hpp"
#include "kernels/cg/vectors.hpp"
#include "kernels/common/hidden.hpp"
#include "kernels/crews/shared_vector.hpp"

namespace kumiki::kernels::cg {

/// The activities of a worker, as in the COMPaS paper's Figure 13, but with the waiting for sums separate from the
/// inner products.
enum class Step {
    product,  ///< of the matrix and the vector
    vectors,  ///< additions and inner products
    exchange, ///< of the vector between all workers
    sums      ///< over all workers, and the meeting at the end
};

/// The benchmark on the workers of a crew: every worker has contiguous rows of the matrix, and the same rows of all
/// vectors. The vector by which the matrix is multiplied is shared.
///
/// A step of the conjugate gradient method has one reduction and one exchange of p. The textbook's second reduction,
/// for the new r.r, is avoided by r' = r - alpha q: r'.r' = r.r - 2 alpha r.q + alpha^2 q.q, whose products are
/// computed together with p.q. Because r.r itself is computed anew in every step, no error accumulates.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using SharedVector = typename C::SharedVector;
    static_assert(SharedBy<SharedVector, Worker>);

    /// Collective.
    Solver(C& crew, const Problem& problem) : Solver(crew, problem, Generator(problem)) {}

    /// Runs the whole benchmark, or only one part of it; returns the times of the job.
    RunTimes run(Extent extent = Extent::all) {
        return crew_.run([&](Worker& worker) {
            worker.enter_part(Step::vectors);
            if (extent == Extent::communication) communicate(worker);
            else estimate(worker, extent);
            worker.enter_part(Step::sums); // for the barrier that follows
        });
    }

    /// Whether every worker ended the last run with the published zeta. Collective.
    bool verified() {
        bool verified = false;
        crew_.run([&](Worker& worker) {
            const std::uint64_t wrong = worker.sum(std::uint64_t{!problem_.verifies(desk(worker).zeta)});
            if (worker.local() == 0) verified = wrong == 0;
        });
        return verified;
    }

    /// |x - A z| of the last power iteration.
    double last_residual() const { return desks_.front()->last_residual; }

private:
    /// The private data of a worker. All vectors have an element for each of its rows.
    struct Desk {
        explicit Desk(Rows made)
            : rows(std::move(made)),
              x(rows.range().size()),
              z(rows.range().size()),
              r(rows.range().size()),
              q(rows.range().size()) {}

        Rows rows;
        std::optional<Columns> columns; ///< if the shared vector arrives in pieces
        AlignedVector<double> x, z, r, q;
        double zeta = 0.0, last_residual = 0.0;
    };

    Solver(C& crew, const Problem& problem, const Generator& generator)
        : Solver(crew, problem, generator, generator.balanced_rows(crew.size())) {}
    Solver(C& crew, const Problem& problem, const Generator& generator, std::span<const Range> parts)
        : crew_(crew), problem_(problem), vector_(crew, parts), desks_(static_cast<std::size_t>(crew.local_size())) {
        crew.run([&](Worker& worker) {
            auto& own = desks_[static_cast<std::size_t>(worker.local())];
            own = std::make_unique<Desk>(generator.multiply_out(parts[static_cast<std::size_t>(worker.index())]));
            if (const auto pieces = vector_.pieces(worker); !pieces.empty()) own->columns.emplace(own->rows, pieces);
        });
    }

    Desk& desk(const Worker& worker) { return *desks_[static_cast<std::size_t>(worker.local())]; }
    /// This worker's part of the shared vector.
    std::span<double> own_part(const Desk& own) {
        return vector_.span().subspan(own.rows.range().begin, own.rows.range().size());
    }

    void estimate(Worker& worker, Extent extent) {
        Desk& own = desk(worker);
        std::ranges::fill(own.x, 1.0);
        for (int iteration = 0; iteration < problem_.iterations; ++iteration) {
            const auto [xz, zz, residual] = solve(worker, own, extent);
            own.zeta = problem_.shift + 1.0 / xz;
            const double scale = 1.0 / std::sqrt(zz);
            std::ranges::transform(own.z, own.x.begin(), [=](double z) { return scale * z; });
            own.last_residual = std::sqrt(residual);
        }
    }

    /// z = A^-1 x, approximately.
    std::array<double, 3> solve(Worker& worker, Desk& own, Extent extent) {
        const auto p = own_part(own);
        std::ranges::fill(own.z, 0.0);
        std::ranges::copy(own.x, own.r.begin());
        std::ranges::copy(own.x, p.begin());
        for (int iteration = 0; iteration < Problem::inner_iterations; ++iteration) {
            multiply(worker, own, extent);
            const auto [pq, rq, qq, rr] = summed(worker, step_products(p, own.q, own.r), extent);
            const double alpha = rr / pq;
            const double rr_next = rr - 2.0 * alpha * rq + alpha * alpha * qq;
            step(alpha, rr_next / rr, own.q, own.z, own.r, p);
        }
        // The last p is no longer needed, so z takes its place.
        std::ranges::copy(own.z, p.begin());
        multiply(worker, own, extent);
        return summed(worker, solution_products(own.x, own.z, own.q), extent);
    }

    /// Everything that estimate() exchanges and sums up.
    void communicate(Worker& worker) {
        for (int product = 0; product < problem_.products(); ++product) {
            multiply(worker, desk(worker), Extent::communication);
            summed(worker, std::array<double, most_summed>{}, Extent::communication);
        }
    }

    template <std::size_t N>
    static std::array<double, N> summed(Worker& worker, std::array<double, N> values, Extent extent) {
        if (extent == Extent::computation) return values;
        worker.enter_part(Step::sums);
        worker.enter(Phase::synchronisation);
        worker.sum(std::span<double>(values));
        worker.enter(Phase::computation);
        worker.enter_part(Step::vectors);
        return values;
    }

    /// q = A times the shared vector, which is being exchanged meanwhile.
    void multiply(Worker& worker, Desk& own, Extent extent) {
        const bool computes = extent != Extent::communication, communicates = extent != Extent::computation;
        worker.enter_part(Step::exchange);
        if (communicates) vector_.start(worker);
        if (!communicates || vector_.complete(worker)) {
            worker.enter_part(Step::product);
            if (computes) own.rows.multiply(vector_.span(), own.q);
        } else multiply_by_pieces(worker, own, computes);
        worker.enter_part(Step::exchange);
        if (communicates) vector_.finish(worker);
        worker.enter_part(Step::vectors);
    }

    void multiply_by_pieces(Worker& worker, Desk& own, bool computes) {
        const Columns& columns = *own.columns;
        worker.enter_part(Step::product);
        if (computes) columns.own.multiply(vector_.span(), own.q);
        if (vector_.complete(worker)) {
            if (computes) columns.others.multiply_add(vector_.span(), own.q);
            return;
        }
        for (std::size_t piece = 0; piece < columns.pieces.size(); ++piece) {
            worker.enter_part(Step::exchange);
            vector_.await(worker, piece);
            worker.enter_part(Step::product);
            if (computes) columns.pieces[piece].multiply_add(vector_.span(), own.q);
        }
    }

    C& crew_;
    Problem problem_;
    SharedVector vector_;
    std::vector<std::unique_ptr<Desk>> desks_; ///< by worker of this process
};

} // namespace kumiki::kernels::cg
