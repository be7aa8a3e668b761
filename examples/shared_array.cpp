// A shared array: one grid over all ranks, read and written through plain pointers. Jacobi's method for Laplace's
// equation; the rows are dealt to the ranks, each computes those that have their home with it, and reads its
// neighbours' rows where they are. On one host the ranks use the same memory; between hosts each has copies of the
// pages that it uses, which the barrier makes consistent. The same on one host, to see the copies at work:
//
//     kumiki-run -n 4 ./shared_array
//     KUMIKI_SHARED_COPIES=rank kumiki-run -n 4 ./shared_array
#include <chrono>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

constexpr std::size_t size = 1024, row = size + 2, steps = 50;
using kumiki::Dimension, kumiki::Indexes;

/// One step for these rows; `from` and `to` are whole grids with a boundary around them.
void relax(const double* from, double* to, const Indexes& rows) {
    for (const std::size_t i : rows)
        for (std::size_t j = 1; j <= size; ++j)
            to[i * row + j] = 0.25 * (from[(i - 1) * row + j] + from[(i + 1) * row + j] + from[i * row + j - 1] +
                                      from[i * row + j + 1]);
}

/// The boundary above the first row is 1, all else 0.
void set_boundary(double* grid) {
    for (std::size_t j = 0; j < row; ++j) grid[j] = 1;
}

int main() try {
    kumiki::Job job;
    constexpr std::size_t cells = row * row;
    auto one = job.share<double>({Dimension::block(row), row}), other = job.share<double>({Dimension::block(row), row});
    const Indexes inside({{1, size + 1}});
    const Indexes rows = one.own().within({1, size + 1}); // the other grid has its rows at the same ranks
    if (job.rank() == 0) {
        set_boundary(one.data());
        set_boundary(other.data());
    }
    job.shared_barrier();

    const auto start = std::chrono::steady_clock::now();
    double *from = one.data(), *to = other.data();
    for (std::size_t step = 0; step < steps; ++step, std::swap(from, to)) {
        relax(from, to, rows);
        job.shared_barrier(); // now every rank sees what the others have written
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    const kumiki_shared_counters cost = one.counters();

    // Each rank checks the whole grid against its own computation.
    std::vector<double> expected(cells), next(cells);
    set_boundary(expected.data());
    set_boundary(next.data());
    for (std::size_t step = 0; step < steps; ++step, expected.swap(next)) relax(expected.data(), next.data(), inside);
    for (std::size_t cell = 0; cell < cells; ++cell)
        if (from[cell] != expected[cell])
            throw std::runtime_error("cell " + std::to_string(cell) + " is " + std::to_string(from[cell]) +
                                     " instead of " + std::to_string(expected[cell]));
    if (job.rank() == 0)
        std::cout << steps << " steps took " << took.count() << " ms; for one of the grids, rank 0 fetched "
                  << cost.fetches << " pages, dropped " << cost.invalidations << " and sent the changes of "
                  << cost.differences << " (page faults by: " << kumiki_shared_mechanism(job.handle()) << ")\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << "shared_array: " << error.what() << '\n';
    return 1;
}
