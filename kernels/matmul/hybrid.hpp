#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/matmul/blas.hpp"
#include "kernels/matmul/layout.hpp"
#include "kernels/matmul/local.hpp"
#include "kernels/matmul/measure_form.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::kernels::matmul {

/// SUMMA on Kumiki: every rank owns a block of A, B and C, and makes its block of C from the panels of A in its row of
/// ranks and those of B in its column, by one-sided access: no rank takes part in what another fetches. The threads of
/// a rank share its block of C.
class Hybrid {
public:
    Hybrid(Job& job, const Options& options);

    RunTimes run();
    void add_product(const Check& check, std::span<double> product) const;
    void sum_up(std::span<double> product) { job_.reduce(product, Operation::sum, 0); }
    bool agree(bool mine);
    int rank() const { return job_.rank(); }
    bool copies_panels() const { return fetch_ == Fetch::get; }
    Workers workers() const;

private:
    /// A panel of each operand in memory that this rank can read.
    struct Operands {
        Operand a, b;
    };
    /// Where fetched panels are put; two sets, so that one fills while the other is used.
    struct Buffers {
        std::unique_ptr<double[]> a, b;
    };

    int a_owner(const Panel& panel) const { return static_cast<int>(grid_.place(grid_.row_of(here_), panel.a_column)); }
    int b_owner(const Panel& panel) const { return static_cast<int>(grid_.place(panel.b_row, grid_.column_of(here_))); }
    std::size_t a_offset(const Panel& panel) const;
    std::size_t b_offset(const Panel& panel) const;

    bool all_in_reach() const;
    void fill(const Member& member);
    Operands in_place(const Panel& panel) const;
    Operands fetched(std::size_t step) const;
    void fetch_panel(std::size_t step);
    void multiply_tile(const Grid& tiles, std::size_t tile, std::size_t step, const Operands& operands);
    void run_in_place(const Member& member, Phases& phases);
    void run_fetching(Member& member, Phases& phases);

    Job& job_;
    Team team_;
    std::size_t size_, here_; ///< `here_`: this rank's place in the grid
    Grid grid_;
    Block mine_;
    std::vector<Panel> panels_;
    Region<double> a_, b_;
    std::unique_ptr<double[]> c_;
    Fetch fetch_;
    Buffers buffers_[2];
    std::vector<std::atomic<std::size_t>> claimed_; ///< by step: how many tiles the threads have taken
};

} // namespace kumiki::kernels::matmul
