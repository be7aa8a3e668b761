#include "kernels/matmul/hybrid.hpp"

#include <algorithm>

#include "kernels/common/settle.hpp"
#include "kernels/common/working_threads.hpp"

namespace kumiki::kernels::matmul {

namespace {

/// Elements of the largest block of a square matrix of this size: regions are equally large at every rank.
std::size_t largest_block(std::size_t size, const Grid& grid) {
    const Block first = block_at(grid, 0, size, size);
    return std::max<std::size_t>(first.rows.size() * first.columns.size(), 1);
}

/// Tiles for each thread when panels are fetched: the thread that fetches takes fewer, and this many keep the others
/// evenly busy.
constexpr std::size_t tiles_per_thread = 4;

} // namespace

Hybrid::Hybrid(Job& job, const Options& options)
    : job_(job),
      team_(job, working_threads(job, options.all_threads)),
      size_(options.size),
      here_(static_cast<std::size_t>(job.rank())),
      grid_(Grid::near_square(static_cast<std::size_t>(job.size()))),
      mine_(block_at(grid_, here_, size_, size_)),
      panels_(beginning_at_row(panels_of(size_, grid_, options.panel), grid_.row_of(here_))),
      a_(job.allocate<double>(largest_block(size_, grid_))),
      b_(job.allocate<double>(largest_block(size_, grid_))),
      c_(untouched(mine_.rows.size() * mine_.columns.size())),
      fetch_(all_in_reach() ? options.fetch : Fetch::get),
      claimed_(panels_.size()) {
    set_blas_threads(1);
    if (fetch_ == Fetch::get) {
        std::size_t deepest = 0;
        for (const Panel& panel : panels_) deepest = std::max(deepest, panel.depth.size());
        for (Buffers& buffers : buffers_)
            buffers = {untouched(deepest * mine_.rows.size()), untouched(deepest * mine_.columns.size())};
    }
    team_.run([&](Member& member) { fill(member); });
}

Workers Hybrid::workers() const {
    return {"kumiki", "hybrid", job_.size(), job_.threads(), job_.oversubscribed(), team_.size()};
}

bool Hybrid::all_in_reach() const {
    for (int other = 0; other < job_.size(); ++other)
        if (a_.at(other).empty()) return false;
    return true;
}

void Hybrid::fill(const Member& member) {
    const std::size_t rows = mine_.rows.size(), columns = mine_.columns.size();
    const Part of_a = member.part(columns), of_b = member.part(rows);
    matrix_a.fill_by_columns(mine_.rows, {mine_.columns.begin + of_a.begin, mine_.columns.begin + of_a.end},
                             a_.data() + of_a.begin * rows);
    matrix_b.fill_by_rows({mine_.rows.begin + of_b.begin, mine_.rows.begin + of_b.end}, mine_.columns,
                          b_.data() + of_b.begin * columns);
}

std::size_t Hybrid::a_offset(const Panel& panel) const {
    return (panel.depth.begin - share(size_, grid_.columns, panel.a_column).begin) * mine_.rows.size();
}

std::size_t Hybrid::b_offset(const Panel& panel) const {
    return (panel.depth.begin - share(size_, grid_.rows, panel.b_row).begin) * mine_.columns.size();
}

Hybrid::Operands Hybrid::in_place(const Panel& panel) const {
    return {{a_.at(a_owner(panel)).data() + a_offset(panel), mine_.rows.size()},
            {b_.at(b_owner(panel)).data() + b_offset(panel), mine_.columns.size()}};
}

Hybrid::Operands Hybrid::fetched(std::size_t step) const {
    const Panel& panel = panels_[step];
    const Buffers& buffers = buffers_[step % 2];
    const double* const a = a_owner(panel) == rank() ? a_.data() + a_offset(panel) : buffers.a.get();
    const double* const b = b_owner(panel) == rank() ? b_.data() + b_offset(panel) : buffers.b.get();
    return {{a, mine_.rows.size()}, {b, mine_.columns.size()}};
}

void Hybrid::fetch_panel(std::size_t step) {
    const Panel& panel = panels_[step];
    Buffers& buffers = buffers_[step % 2];
    const std::size_t depth = panel.depth.size();
    if (const int owner = a_owner(panel); owner != rank())
        job_.get(owner, a_.data() + a_offset(panel), std::span(buffers.a.get(), depth * mine_.rows.size()));
    if (const int owner = b_owner(panel); owner != rank())
        job_.get(owner, b_.data() + b_offset(panel), std::span(buffers.b.get(), depth * mine_.columns.size()));
}

void Hybrid::multiply_tile(const Grid& tiles, std::size_t tile, std::size_t step, const Operands& operands) {
    const std::size_t columns = mine_.columns.size();
    const Block block = block_at(tiles, tile, mine_.rows.size(), columns);
    multiply(block.rows.size(), block.columns.size(), panels_[step].depth.size(),
             {operands.a.data + block.rows.begin, operands.a.leading},
             {operands.b.data + block.columns.begin, operands.b.leading},
             c_.get() + block.rows.begin * columns + block.columns.begin, columns, step > 0);
}

/// Nothing is copied and nobody waits before the end: every thread makes its tile of C from all panels.
void Hybrid::run_in_place(const Member& member, Phases& phases) {
    const Grid tiles = Grid::near_square(static_cast<std::size_t>(member.threads()));
    phases.enter(Phase::computation);
    for (std::size_t step = 0; step < panels_.size(); ++step)
        multiply_tile(tiles, static_cast<std::size_t>(member.thread()), step, in_place(panels_[step]));
}

/// The master fetches the panels of the next step while the other threads multiply, then helps them: the tiles of a
/// step go to whoever is free. With one thread, a copy made by the processor cannot overlap anything.
void Hybrid::run_fetching(Member& member, Phases& phases) {
    const auto threads = static_cast<std::size_t>(member.threads());
    const Grid tiles = Grid::near_square(threads == 1 ? 1 : tiles_per_thread * threads);
    for (std::size_t step = 0; step <= panels_.size(); ++step) {
        if (member.master() && step < panels_.size()) {
            phases.enter(Phase::communication);
            fetch_panel(step);
        }
        if (step > 0) {
            phases.enter(Phase::computation);
            const Operands operands = fetched(step - 1);
            for (std::size_t tile; (tile = claimed_[step - 1].fetch_add(1, std::memory_order_relaxed)) < tiles.count();)
                multiply_tile(tiles, tile, step - 1, operands);
        }
        phases.enter(Phase::synchronisation);
        member.barrier();
    }
}

RunTimes Hybrid::run() {
    RunTimes times;
    for (auto& count : claimed_) count = 0;
    team_.run([&](Member& member) {
        Phases phases;
        member.barrier_all();
        const auto start = measure::Clock::now();
        if (fetch_ == Fetch::in_place) run_in_place(member, phases);
        else run_fetching(member, phases);
        phases.enter(Phase::synchronisation);
        member.barrier_all();
        phases.stop();
        if (member.master()) times = {measure::seconds_since(start), phases};
    });
    return largest(job_, times);
}

void Hybrid::add_product(const Check& check, std::span<double> product) const {
    check.add(mine_.rows, mine_.columns, c_.get(), mine_.columns.size(), product);
}

bool Hybrid::agree(bool mine) { return agreed(job_, mine); }

} // namespace kumiki::kernels::matmul
