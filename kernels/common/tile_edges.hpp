#pragma once

#include "kernels/common/cut.hpp"

namespace kumiki::kernels {

/// How workers exchange the edges of their tiles with their neighbours: each worker has copies (ghosts) of the rows and
/// columns beyond its own.
template <Crew C, class T = double>
class TileEdges {
public:
    using Worker = typename C::Worker;
    using Edges = typename C::template Edges<T>;
    static_assert(EdgesBetween<Edges, Worker, T>);

    /// Collective. Edges have at most `longest` elements. `cut` must outlive this.
    TileEdges(C& crew, const Cut& cut, std::size_t longest) : cut_(cut), edges_(crew, side_count, longest) {}

    /// May be called before start() for the same sides: see EdgesBetween. Edges that were accepted earlier then stay
    /// until finish().
    void expect(Worker& worker, Sides sides) {
        for (const auto& neighbour : cut_.neighbours(worker.index(), sides)) edges_.expect(worker, neighbour.link);
        worker.enter(Phase::computation);
    }
    /// edge(side) -> std::span<const T> is sent to the neighbour there until finish(), and must not change in the
    /// meantime.
    template <class Edge>
    void start(Worker& worker, Sides sides, Edge edge) {
        for (const auto& [side, link] : cut_.neighbours(worker.index(), sides)) edges_.start(worker, link, edge(side));
        edges_.started(worker);
    }
    /// Ends the exchange that start() began: accept(side, const T*) receives the neighbour's edge.
    template <class Accept>
    void finish(Worker& worker, Sides sides, Accept accept) {
        edges_.finish(worker);
        for (const auto& [side, link] : cut_.neighbours(worker.index(), sides))
            accept(side, edges_.arrived(worker, link));
    }
    /// Both together, for a stencil that has diagonal neighbours: west and east first, so that the edges north and
    /// south can include the corners.
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
