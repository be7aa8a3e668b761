#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "kernels/common/range.hpp"

namespace kumiki::kernels {

/// A vector that every process has whole, and of which every worker writes its own part: C::SharedVector(crew, parts),
/// with a part for each worker. To give its part to all, a worker starts an exchange and later finishes it, all workers
/// in the same order. What is there meanwhile: all of the vector where complete() says so; else the worker's own part,
/// and each piece of the others once the worker has awaited it. Before workers write their parts again, all must have
/// met (a sum does).
template <class V, class W>
concept SharedBy = requires(V vector, W worker, std::size_t piece) {
    { vector.span() } -> std::same_as<std::span<double>>; ///< as this process has it
    vector.start(worker);                                 ///< the own part is written; the phase computation begins
    { vector.complete(worker) } -> std::same_as<bool>;
    /// What the parts of the others consist of, in the order in which it should arrive; none where complete() is never
    /// false. The same in every exchange.
    { vector.pieces(worker) } -> std::same_as<std::span<const Range>>;
    vector.await(worker, piece);
    vector.finish(worker); ///< the own part may be written again, as far as the exchange is concerned
};

/// What the exchanges have in common that end as soon as they are started.
struct ArrivesWhole {
    static bool complete(const auto&) { return true; }
    static std::span<const Range> pieces(const auto&) { return {}; }
    static void await(const auto&, std::size_t) {}
    static void finish(const auto&) {}
};

} // namespace kumiki::kernels
