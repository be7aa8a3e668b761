#pragma once

#include "kernels/common/cut.hpp"

namespace kumiki::kernels {

/// How workers exchange the edges of their tiles with their neighbours: each has a copy, a ghost, of the rows and
/// columns beyond its own.
template <Crew C, class T = double>
class TileEdges {
public:
    using Worker = typename C::Worker;
    using Edges = typename C::template Edges<T>;
    static_assert(EdgesBetween<Edges, Worker, T>);

    /// Collective. Edges of up to `longest` elements. `cut` must outlive this.
    TileEdges(C& crew, const Cut& cut, std::size_t longest) : cut_(cut), edges_(crew, side_count, longest) {}

    /// May come before start(), of the same sides: see EdgesBetween. Edges that were accepted before stay then until
    /// finish().
    void expect(Worker& worker, Sides sides) {
        for (const auto& neighbour : cut_.neighbours(worker.index(), sides)) edges_.expect(worker, neighbour.link);
        worker.enter(Phase::computation);
    }
    /// edge(side) -> std::span<const T> is on its way to the neighbour there until finish(), and must stay as it is.
    template <class Edge>
    void start(Worker& worker, Sides sides, Edge edge) {
        for (const auto& [side, link] : cut_.neighbours(worker.index(), sides)) edges_.start(worker, link, edge(side));
        edges_.started(worker);
    }
    /// Ends the exchange that start() began: accept(side, const T*) takes the neighbour's edge.
    template <class Accept>
    void finish(Worker& worker, Sides sides, Accept accept) {
        edges_.finish(worker);
        for (const auto& [side, link] : cut_.neighbours(worker.index(), sides))
            accept(side, edges_.arrived(worker, link));
    }
    /// Both, for a stencil that has diagonal neighbours: west and east first, so that the edges north and south can
    /// carry the corners along.
    template <class Edge, class Accept>
    void exchange_with_corners(Worker& worker, Edge edge, Accept accept) {
        for (const Sides sides : {Sides::west_east, Sides::north_south}) {
            if (!cut_.cuts(sides)) continue;
            start(worker, sides, edge);
            finish(worker, sides, accept);
        }
    }

private:
    const Cut& cut_;
    Edges edges_;
};

} // namespace kumiki::kernels
