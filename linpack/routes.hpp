#pragma once

#include <cstddef>
#include <vector>

namespace kumiki::linpack {

/// How panels travel along a process row; HPL numbers them so (BCAST).
///
/// ring: each rank passes the panel on to the next. two_rings: one ring through the first half of the ranks, one
/// through the others. scattered: a part to each rank, and the parts then along one ring, so that each rank sends
/// little more than one panel. The modified forms serve the rank after the owner first, and it passes nothing on,
/// because it makes the next panel.
enum class Broadcast {
    ring = 0,
    ring_modified = 1,
    two_rings = 2,
    two_rings_modified = 3,
    scattered = 4,
    scattered_modified = 5
};

/// How rows travel along a process column (HPL: SWAP). Every rank needs the rows of all others. exchange: along a
/// binomial tree from each rank, in few steps; ring: each rank passes on what the one before it has sent, in many steps
/// in which everyone sends alike; mixed: exchange up to some columns, ring above.
enum class Swap { exchange = 0, ring = 1, mixed = 2 };

/// What of this a run follows.
struct Travel {
    Broadcast broadcast = Broadcast::ring;
    Swap swap = Swap::mixed;
    std::size_t exchanged_columns = 64; ///< with Swap::mixed: the most columns of a slab whose rows travel by exchange

    /// How the rows of a slab of so many columns travel: never mixed.
    Swap swap_of(std::size_t columns) const {
        if (swap != Swap::mixed) return swap;
        return columns <= exchanged_columns ? Swap::exchange : Swap::ring;
    }
};

/// The way of something that one rank has and `receivers` others need: in how many parts it travels, and who passes a
/// part on to whom. Positions: 0 is the source, 1 .. receivers are the others in their order.
class Route {
public:
    static Route of(Broadcast kind, int receivers);
    /// In one part; not for Swap::mixed, which is one or the other.
    static Route of(Swap kind, int receivers);

    int parts() const { return parts_; }
    /// The positions to which `position` passes a part when it has it, in the order in which it does.
    std::vector<int> next(int position, int part) const;
    /// The parts, in the order in which they come to a position.
    std::vector<int> arrivals(int position) const;

private:
    enum class Shape { rings, tree, scattered };
    Route(Shape shape, int receivers, bool modified, int rings = 1);

    std::vector<int> in_rings(int position) const;
    std::vector<int> in_tree(int position) const;
    std::vector<int> in_parts(int position, int part) const;

    Shape shape_;
    int receivers_;
    int first_; ///< the first position that is part of the rings: 1, or 2 where position 1 is served by itself
    int rings_;
    int parts_;
};

} // namespace kumiki::linpack
