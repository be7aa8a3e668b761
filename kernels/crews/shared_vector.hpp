#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "kernels/common/range.hpp"

namespace kumiki::kernels {

/// A vector of which every process has a complete copy, and every worker writes its own part: C::SharedVector(crew,
/// parts), with a part for each worker. To send its part to all others, a worker starts an exchange and later finishes
/// it; all workers do so in the same order. In the meantime the whole vector is available if complete() says so;
/// otherwise the worker's own part is available, and each piece of the others once the worker has waited for it. Before
/// workers write their parts again, all must have synchronised (a sum does this).
template <class V, class W>
concept SharedBy = requires(V vector, W worker, std::size_t piece) {
    { vector.span() } -> std::same_as<std::span<double>>; ///< the copy of this process
    vector.start(worker);                                 ///< the own part is written; the phase computation begins
    { vector.complete(worker) } -> std::same_as<bool>;
    /// The pieces of the others' parts, in the order in which they should arrive; empty if complete() is never false.
    /// The same in every exchange.
    { vector.pieces(worker) } -> std::same_as<std::span<const Range>>;
    vector.await(worker, piece);
    vector.finish(worker); ///< the own part may be written again, as far as the exchange is concerned
};

/// The common part of exchanges that end as soon as they are started.
struct ArrivesWhole {
    static bool complete(const auto&) { return true; }
    static std::span<const Range> pieces(const auto&) { return {}; }
    static void await(const auto&, std::size_t) {}
    static void finish(const auto&) {}
};

} // namespace kumiki::kernels
