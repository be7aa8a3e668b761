#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "linpack/factorisation.hpp"
#include "linpack/parameters.hpp"
#include "linpack/update.hpp"

namespace kumiki::linpack {

/// The parts of which the first step of a run consists, and the solution at its end, each by itself: what a model of a
/// run is made of. All ranks and threads do the same part at the same time, as in a run, but for the panel, which one
/// thread of each rank makes. Construction and all functions are collective over the job, whose ranks all take part.
/// A function computes its part once, and returns the GFLOP/s of a rank that has the largest share of it: the same at
/// every rank.
class Pieces {
public:
    Pieces(Job& job, const Parameters& parameters);

    /// The product that updates what is behind the panel, by all threads.
    double product();
    /// The product that updates the columns of the next panel, by one thread, while the others of the rank multiply.
    double narrow();
    /// The factorisation of the panel by one thread, while the others of the rank multiply.
    double panel();
    /// The triangular solve of the rows of U by all threads, after the rows have changed places; only the operations of
    /// the solve are counted.
    double exchange();
    /// The back substitution: GFLOP/s of all ranks together.
    double solution();

private:
    /// Zeros for the rows of U: they take as long to multiply as other numbers, and leave the matrix as it is.
    void clear();
    /// The product of the update, by all threads.
    void multiply_all();
    /// Leaves the caches as the update of the step before does, which goes through the whole matrix: rows that change
    /// places, and the columns of the next panel, then come from memory.
    void sweep();
    /// The first columns behind the panel, as many as it has, as far as no other thread multiplies them.
    Slab next_columns() const;
    /// The seconds of `work` by one thread of each rank, the slowest, while the others multiply.
    double timed_alone(const std::function<void(Update::Workspace&)>& work);
    /// Each slab behind the panel once, by whichever thread takes it.
    void by_slabs(const std::function<void(const Slab&, Update::Workspace&)>& work);
    void multiply(const Slab& slab, const double* below_panel, const Update::Workspace& u);
    void make_panel();
    /// The seconds of the slowest rank.
    double timed(const std::function<void()>& work);
    /// GFLOP/s of the rank that has the most operations.
    double rate(double operations, double seconds);

    Place place_;
    Parameters parameters_;
    Layout layout_;
    Team team_;
    LocalMatrix matrix_;
    PanelBoard panels_;
    PivotBoard choices_;
    SwapBoard swaps_;
    Update update_;
    LeafColumns leaf_;
    std::vector<Update::Workspace> workspaces_; ///< by thread
    StepShape shape_;
    Panel panel_;
    std::vector<Slab> slabs_;
    Update::Workspace zeros_; ///< as large as the rows of a panel
    std::size_t columns_ = 0; ///< of this rank behind the panel
    std::size_t exchanges_ = 0;
    std::atomic<std::size_t> next_{0};
};

} // namespace kumiki::linpack
