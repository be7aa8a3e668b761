#include "linpack/run.hpp"

#include "linpack/back_substitution.hpp"
#include "linpack/factorisation.hpp"

namespace kumiki::linpack {

namespace {

/// The operations of the steps up to this one, as a share of all.
double share_done(std::size_t step, const Layout& layout) {
    const double left = 1 - static_cast<double>(step + 1) / static_cast<double>(layout.steps());
    return 1 - left * left * left;
}

} // namespace

void fill(const LocalMatrix& matrix, const Place& place, const Layout& layout, const Generator& generator, Team& team) {
    team.run([&](Member& member) {
        const Part rows = member.part(matrix.rows());
        for (std::size_t row = rows.begin; row < rows.end; ++row)
            for (const std::size_t block : layout.columns.blocks_of(place.column()))
                generator.fill(layout.rows.global_of(place.row(), row), layout.columns.begin(block),
                               layout.columns.width(block),
                               matrix.at(row, layout.columns.local_begin(place.column(), block)));
    });
}

double gigaflops(std::size_t size, double seconds) {
    const auto n = static_cast<double>(size);
    return (n / 1e9) * (n / seconds) * (2.0 / 3.0 * n + 3.0 / 2.0);
}

Outcome run(Job& job, const Parameters& parameters, const ShareDone& progress) {
    Place place(job, parameters.grid);
    const Layout layout = Layout::of(parameters.size, parameters.block, parameters.grid, parameters.weights);
    Team team(job);
    const bool takes_part = place.takes_part();
    const LocalMatrix matrix(takes_part ? layout.rows.local_length(place.row()) : 0,
                             takes_part ? layout.columns.local_length(place.column()) : 0);
    Factorisation factorisation(place, layout, matrix, team, parameters.variant, parameters.travel, parameters.device,
                                parameters.look_ahead);
    const Generator generator(parameters.size);

    Outcome outcome;
    if (takes_part) {
        fill(matrix, place, layout, generator, team);
        factorisation.load();
    }
    job.barrier();
    outcome.begin = std::chrono::system_clock::now();
    const auto start = std::chrono::steady_clock::now();
    if (takes_part) {
        factorisation.run([&](std::size_t step) {
            if (progress) progress(share_done(step, layout));
        });
        outcome.solution = back_substitute(place, layout, matrix);
        outcome.pivots = factorisation.pivots();
        outcome.products = factorisation.products();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    outcome.seconds = job.all_reduce(taken.count(), Operation::max);
    outcome.end = std::chrono::system_clock::now();
    if (takes_part && parameters.threshold > 0)
        outcome.residual = residual_of(place, layout, generator, team, outcome.solution);
    return outcome;
}

} // namespace kumiki::linpack
