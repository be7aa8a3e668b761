#include "linpack/pieces.hpp"

#include <algorithm>
#include <chrono>

#include "linpack/back_substitution.hpp"
#include "linpack/blas.hpp"
#include "linpack/panel_factor.hpp"
#include "linpack/run.hpp"
#include "linpack/slabs.hpp"

namespace kumiki::linpack {

namespace {

double square(std::size_t value) { return static_cast<double>(value) * static_cast<double>(value); }

} // namespace

Pieces::Pieces(Job& job, const Parameters& parameters)
    : place_(job, parameters.grid),
      parameters_(parameters),
      layout_(Layout::of(parameters.size, parameters.block, parameters.grid, parameters.weights)),
      team_(job),
      matrix_(layout_.rows.local_length(place_.row()), layout_.columns.local_length(place_.column())),
      panels_(place_, layout_.block(), layout_.rows.largest_local_length(), parameters.travel.broadcast),
      choices_(place_, layout_.block()),
      swaps_(place_, 2 * layout_.block(), layout_.columns.largest_local_length(),
             1 + most_slabs(layout_.columns.largest_local_length()), parameters.travel),
      update_(place_, matrix_, layout_.rows, swaps_),
      leaf_(layout_.rows.largest_local_length(), std::min(parameters.variant.least, layout_.block())),
      workspaces_(static_cast<std::size_t>(team_.size())),
      shape_(shape_of(0, layout_.rows, layout_.columns, place_.row())),
      panel_(panels_.begin(0)) {
    fill(matrix_, place_, layout_, Generator(parameters.size), team_);
    const std::size_t begin = layout_.columns.local_begin(place_.column(), 1);
    columns_ = matrix_.columns() - begin;
    const int threads = job.all_reduce(team_.size(), Operation::max);
    for (const Range& columns : cut_slabs({begin, begin + columns_}, threads))
        slabs_.push_back({slabs_.size(), columns});
    for (Update::Workspace& u : workspaces_) u.resize(shape_.width * columns_);
    if (team_.size() > 1) zeros_.resize(shape_.rows * panel_.lead);
}

double Pieces::timed(const std::function<void()>& work) {
    place_.job().barrier();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return place_.job().all_reduce(taken.count(), Operation::max);
}

double Pieces::rate(double operations, double seconds) {
    return place_.job().all_reduce(operations, Operation::max) / seconds / 1e9;
}

void Pieces::by_slabs(const std::function<void(const Slab&, Update::Workspace&)>& work) {
    next_ = 0;
    team_.run([&](Member& member) {
        Update::Workspace& u = workspaces_[static_cast<std::size_t>(member.thread())];
        for (std::size_t taken; (taken = next_.fetch_add(1, std::memory_order_relaxed)) < slabs_.size();)
            work(slabs_[taken], u);
    });
}

void Pieces::multiply(const Slab& slab, const double* below_panel, const Update::Workspace& u) {
    const std::size_t below = shape_.rows - shape_.own_rows, columns = slab.columns.size();
    if (below == 0 || columns == 0) return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(below), blas_length(columns),
                blas_length(shape_.width), -1.0, below_panel, blas_length(panel_.lead), u.data(), blas_length(columns),
                1.0, matrix_.at(shape_.row + shape_.own_rows, slab.columns.begin), blas_length(matrix_.lead()));
}

double Pieces::product() {
    clear();
    const double seconds = timed([this] { multiply_all(); });
    const auto below = static_cast<double>(shape_.rows - shape_.own_rows);
    return rate(2 * below * static_cast<double>(columns_ * shape_.width), seconds);
}

void Pieces::clear() {
    for (Update::Workspace& u : workspaces_) std::ranges::fill(u, 0.0);
}

void Pieces::multiply_all() {
    const double* const below_panel = panel_.rows + shape_.own_rows * panel_.lead;
    by_slabs([&](const Slab& slab, const Update::Workspace& u) { multiply(slab, below_panel, u); });
}

void Pieces::sweep() {
    clear();
    multiply_all();
}

Slab Pieces::next_columns() const {
    if (slabs_.empty()) return {};
    const Range& first = slabs_.front().columns;
    return {0, {first.begin, first.begin + std::min(shape_.width, first.size())}};
}

double Pieces::narrow() {
    sweep();
    const Slab slab = next_columns();
    const double seconds =
        timed_alone([&](Update::Workspace& u) { multiply(slab, panel_.rows + shape_.own_rows * panel_.lead, u); });
    const auto below = static_cast<double>(shape_.rows - shape_.own_rows);
    return rate(2 * below * static_cast<double>(slab.columns.size() * shape_.width), seconds);
}

double Pieces::timed_alone(const std::function<void(Update::Workspace&)>& work) {
    std::atomic<bool> made{false};
    double seconds = 0;
    place_.job().barrier();
    team_.run([&](Member& member) {
        const auto thread = static_cast<std::size_t>(member.thread());
        if (member.master()) {
            const auto start = std::chrono::steady_clock::now();
            work(workspaces_[thread]);
            seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            made.store(true, std::memory_order_relaxed);
        } else if (thread < slabs_.size()) {
            // The others multiply meanwhile, as in a run, each a slab of its own and by a panel of zeros.
            while (!made.load(std::memory_order_relaxed)) multiply(slabs_[thread], zeros_.data(), workspaces_[thread]);
        }
    });
    return place_.job().all_reduce(seconds, Operation::max);
}

double Pieces::panel() {
    sweep();
    // Its columns have just been updated.
    multiply(next_columns(), panel_.rows + shape_.own_rows * panel_.lead, workspaces_.front());
    const double seconds = timed_alone([this](Update::Workspace&) { make_panel(); });
    const auto width = static_cast<double>(shape_.width);
    return rate((static_cast<double>(shape_.rows) - width / 3) * width * width, seconds);
}

/// Each process column makes a panel, of its own first columns.
void Pieces::make_panel() {
    for (std::size_t row = 0; row < shape_.rows; ++row)
        std::copy_n(matrix_.at(shape_.row + row, 0), std::min(shape_.width, matrix_.columns()),
                    panel_.rows + row * panel_.lead);
    PanelFactor(shape_, panel_, layout_.rows, place_.row(), choices_, parameters_.variant, leaf_).run();
}

double Pieces::exchange() {
    panel();
    sweep();
    // With zeros as L11 the matrix keeps its size, however often this is done.
    std::fill_n(panel_.top, shape_.width * panel_.lead, 0.0);
    StepShape here = shape_;
    here.rows = here.own_rows; // no product
    here.step = exchanges_++;
    const double seconds = timed([&] {
        update_.begin(here, panel_, slabs_);
        by_slabs([this](const Slab& slab, Update::Workspace& u) { update_.run(slab, u); });
    });
    return rate(square(shape_.width) * static_cast<double>(columns_), seconds);
}

double Pieces::solution() {
    const double seconds = timed([this] { back_substitute(place_, layout_, matrix_); });
    return square(layout_.size()) / seconds / 1e9;
}

} // namespace kumiki::linpack
