#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/common/crew.hpp"
#include "kernels/common/range.hpp"

// Grids cut into contiguous rows, some for each worker.

namespace kumiki::kernels {

/// The part of `count` rows that falls to `worker`, at least one each. Throws std::runtime_error where there are more
/// workers than rows.
Range rows_of_worker(std::size_t count, int workers, int worker);

/// How workers with contiguous rows, in the order of their indices, exchange their first and last rows with their
/// neighbours: each has a copy, a ghost, of the row before its first and of the row after its last.
template <Crew C>
class RowEdges {
public:
    using Worker = typename C::Worker;
    using Edges = typename C::template Edges<double>;
    static_assert(EdgesBetween<Edges, Worker, double>);

    /// Collective. Rows of up to `most` elements.
    RowEdges(C& crew, std::size_t most) : crew_(crew), edges_(crew, 2, most) {}

    /// The rows are on their way until finish(), and must stay as they are.
    void start(Worker& worker, std::span<const double> first, std::span<const double> last) {
        if (has_before(worker)) edges_.start(worker, before(worker), first);
        if (has_after(worker)) edges_.start(worker, after(worker), last);
        worker.enter(Phase::computation);
    }
    /// Fills the ghosts, but for those beyond the first and the last worker.
    void finish(Worker& worker, std::span<double> ghost_before, std::span<double> ghost_after) {
        edges_.finish(worker);
        if (has_before(worker))
            std::copy_n(edges_.arrived(worker, before(worker)), ghost_before.size(), ghost_before.begin());
        if (has_after(worker))
            std::copy_n(edges_.arrived(worker, after(worker)), ghost_after.size(), ghost_after.begin());
    }

private:
    static bool has_before(const Worker& worker) { return worker.index() > 0; }
    bool has_after(const Worker& worker) const { return worker.index() + 1 < crew_.size(); }
    static Link before(const Worker& worker) { return {0, worker.index() - 1, 1}; }
    static Link after(const Worker& worker) { return {1, worker.index() + 1, 0}; }

    C& crew_;
    Edges edges_;
};

} // namespace kumiki::kernels
