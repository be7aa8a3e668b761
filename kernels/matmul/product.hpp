#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/crews/crew.hpp"
#include "kernels/crews/panels.hpp"
#include "kernels/matmul/blas.hpp"
#include "kernels/matmul/check.hpp"
#include "kernels/matmul/layout.hpp"
#include "kernels/matmul/matrix.hpp"

namespace kumiki::kernels::matmul {

/// SUMMA on the workers of a crew: every process owns a block of A, B and C, and makes its block of C from the panels
/// of A in its row of processes and those of B in its column. The workers of a process share its block of C.
template <Crew C>
class Product {
public:
    using Worker = typename C::Worker;
    using Panels = typename C::Panels;
    static_assert(PanelsFor<Panels, Worker>);

    /// Collective. `depth` is the largest depth of a panel; 0: as deep as the owners' blocks.
    Product(C& crew, std::size_t size, std::size_t depth, Fetch fetch)
        : Product(crew, size, Grid::near_square(static_cast<std::size_t>(crew.size() / crew.local_size())), depth,
                  fetch) {}

    /// Computes one product; returns the times of the job.
    RunTimes run() {
        for (auto& count : claimed_) count = 0;
        return crew_.run([&](Worker& worker) { multiply(worker); });
    }

    /// Whether the last run's product is correct, at rank 0. Collective.
    bool right() {
        const Check check(size_);
        std::vector<double> product(size_, 0.0);
        check.add(mine_.rows, mine_.columns, c_.get(), mine_.columns.size(), product);
        crew_.add_up(product);
        return crew_.rank() == 0 && check.passes(product);
    }

    /// Whether panels are got (see Fetch).
    bool gets() const { return a_.gets(); }

private:
    /// The number of tiles for each worker if panels are copied: the worker that copies computes fewer tiles, and with
    /// this many the others are evenly busy.
    static constexpr std::size_t tiles_per_worker = 4;

    Product(C& crew, std::size_t size, const Grid& grid, std::size_t depth, Fetch fetch)
        : crew_(crew),
          size_(size),
          grid_(grid),
          here_(static_cast<std::size_t>(crew.rank())),
          mine_(block_at(grid, here_, size, size)),
          panels_(in_order(panels_of(size, grid, depth))),
          a_(crew, row_of_a(), fetch),
          b_(crew, column_of_b(), fetch),
          c_(untouched(mine_.rows.size() * mine_.columns.size())),
          claimed_(panels_.size()),
          apart_(fetch == Fetch::before) {
        set_blas_threads(1);
        crew.run([&](const Worker& worker) { fill(worker); });
    }

    std::vector<Panel> in_order(std::vector<Panel> panels) const {
        return Panels::any_order ? beginning_at_row(std::move(panels), grid_.row_of(here_)) : panels;
    }
    /// The number of elements in the largest block of any process.
    std::size_t largest_block() const {
        const Block first = block_at(grid_, 0, size_, size_);
        return std::max<std::size_t>(first.rows.size() * first.columns.size(), 1);
    }
    PanelLine row_of_a() const {
        PanelLine line{{}, {}, largest_block()};
        const auto process = [&](std::size_t column) {
            return static_cast<int>(grid_.place(grid_.row_of(here_), column));
        };
        for (std::size_t column = 0; column < grid_.columns; ++column) line.processes.push_back(process(column));
        for (const Panel& panel : panels_) {
            const std::size_t before = panel.depth.begin - share(size_, grid_.columns, panel.a_column).begin;
            line.panels.push_back(
                {process(panel.a_column), before * mine_.rows.size(), panel.depth.size() * mine_.rows.size()});
        }
        return line;
    }
    PanelLine column_of_b() const {
        PanelLine line{{}, {}, largest_block()};
        const auto process = [&](std::size_t row) {
            return static_cast<int>(grid_.place(row, grid_.column_of(here_)));
        };
        for (std::size_t row = 0; row < grid_.rows; ++row) line.processes.push_back(process(row));
        for (const Panel& panel : panels_) {
            const std::size_t before = panel.depth.begin - share(size_, grid_.rows, panel.b_row).begin;
            line.panels.push_back(
                {process(panel.b_row), before * mine_.columns.size(), panel.depth.size() * mine_.columns.size()});
        }
        return line;
    }

    /// Every worker writes its part first, so that it is near it.
    void fill(const Worker& worker) {
        const std::size_t rows = mine_.rows.size(), columns = mine_.columns.size();
        const auto part = [&](std::size_t count) {
            return share(count, static_cast<std::size_t>(crew_.local_size()), static_cast<std::size_t>(worker.local()));
        };
        const Range of_a = part(columns), of_b = part(rows);
        matrix_a.fill_by_columns(mine_.rows, {mine_.columns.begin + of_a.begin, mine_.columns.begin + of_a.end},
                                 a_.block() + of_a.begin * rows);
        matrix_b.fill_by_rows({mine_.rows.begin + of_b.begin, mine_.rows.begin + of_b.end}, mine_.columns,
                              b_.block() + of_b.begin * columns);
    }

    void multiply(Worker& worker) {
        const auto workers = static_cast<std::size_t>(crew_.local_size());
        // A worker that copies panels falls behind the others, so tiles go to any worker that is free.
        const bool in_turn = a_.copies() && workers > 1 && !apart_;
        const Grid tiles = Grid::near_square(in_turn ? tiles_per_worker * workers : workers);
        if (!apart_) start(worker, 0);
        for (std::size_t step = 0; step < panels_.size(); ++step) {
            if (apart_) {
                meet(worker);
                start(worker, step);
            }
            wait(worker, step);
            if (!apart_) start(worker, step + 1);
            if (in_turn) {
                for (std::size_t tile; (tile = claimed_[step].fetch_add(1, std::memory_order_relaxed)) < tiles.count();)
                    multiply_tile(tiles, tile, step);
            } else multiply_tile(tiles, static_cast<std::size_t>(worker.local()), step);
        }
    }
    void start(Worker& worker, std::size_t step) {
        if (step >= panels_.size()) return;
        a_.start(worker, step);
        b_.start(worker, step);
    }
    /// Returns when the panels of the step have arrived, and all workers of this process have finished with those
    /// before.
    void wait(Worker& worker, std::size_t step) {
        if (!a_.copies()) return;
        a_.wait(worker, step);
        b_.wait(worker, step);
        meet(worker);
    }
    /// Returns when all workers of this process have called it.
    void meet(Worker& worker) {
        if (crew_.local_size() == 1) return;
        worker.enter(Phase::synchronisation);
        worker.local_barrier();
        worker.enter(Phase::computation);
    }
    void multiply_tile(const Grid& tiles, std::size_t tile, std::size_t step) {
        const std::size_t rows = mine_.rows.size(), columns = mine_.columns.size();
        const Block block = block_at(tiles, tile, rows, columns);
        matmul::multiply(block.rows.size(), block.columns.size(), panels_[step].depth.size(),
                         {a_.at(step) + block.rows.begin, rows}, {b_.at(step) + block.columns.begin, columns},
                         c_.get() + block.rows.begin * columns + block.columns.begin, columns, step > 0);
    }

    C& crew_;
    std::size_t size_;
    Grid grid_;
    std::size_t here_; ///< this process's place in the grid
    Block mine_;
    std::vector<Panel> panels_;
    Panels a_, b_;
    std::unique_ptr<double[]> c_;
    std::vector<std::atomic<std::size_t>> claimed_; ///< by step: the number of tiles that workers have taken
    bool apart_; ///< whether nothing is computed while panels are copied (Fetch::before)
};

} // namespace kumiki::kernels::matmul
