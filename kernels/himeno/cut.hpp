#pragma once

#include <cstddef>
#include <vector>

#include "kernels/common/crew.hpp"
#include "kernels/common/range.hpp"
#include "kernels/himeno/block.hpp"

namespace kumiki::kernels::himeno {

/// How the grid is cut for the workers.
enum class Split {
    planes,  ///< contiguous planes each: the paper's 1-D decomposition (F61)
    pencils, ///< planes and rows: 2-D, of all such the one with the smallest surface between blocks
};

/// The grid cut into one block for each worker. Columns stay whole: they are what the inner loop runs over.
class Cut {
public:
    /// Throws std::runtime_error when there are more workers than the grid can be cut for.
    Cut(const Problem& problem, int workers, Split split);

    Range planes(int worker) const;
    Range rows(int worker) const;

    /// A side on which a worker has a neighbour, and the way there.
    struct Neighbour {
        Side side;
        Link link;
    };
    /// In the order in which the edges must be exchanged: what is in one group may travel at the same time. West and
    /// east come first, because the edges north and south carry their corners along.
    std::vector<std::vector<Neighbour>> neighbours(int worker) const;

    /// Elements of the longest edge of any block.
    std::size_t longest_edge() const;

private:
    Problem problem_;
    int by_planes_ = 1, by_rows_ = 1; ///< parts
};

} // namespace kumiki::kernels::himeno
