// Halo exchange: heat spreads along a rod that is cut into one piece for each rank. In every step the ranks put the
// cells at their edges, with a signal, into their neighbours' halos. No barrier is needed: each rank waits for its
// neighbours only.
//
//     kumiki-run -n 4 ./heat
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

struct alignas(64) Halo { // the neighbour's cell, and the step that it belongs to, in one cache line
    double cell;
    kumiki::Signal step;
};

constexpr std::size_t cells = 1000;
constexpr std::uint64_t steps = 500;

double next(double left, double middle, double right) { return middle + 0.25 * (left - 2 * middle + right); }

/// The whole rod, computed by one rank alone; one end is kept at 1, the other at 0.
std::vector<double> whole_rod() {
    std::vector<double> rod(cells + 2), new_rod(rod);
    rod.front() = new_rod.front() = 1;
    for (std::uint64_t step = 0; step < steps; ++step, rod.swap(new_rod))
        for (std::size_t i = 1; i <= cells; ++i) new_rod[i] = next(rod[i - 1], rod[i], rod[i + 1]);
    return rod;
}

int main() try {
    kumiki::Job job;
    const kumiki::Part part = kumiki::part_of(cells, job.size(), job.rank());
    const int left = job.rank() - 1, right = job.rank() + 1;
    // Two halos on each side, used in turn: a neighbour can be one step ahead, but never two.
    auto from_left = job.allocate<Halo>(2), from_right = job.allocate<Halo>(2);

    // The rank's own cells are 1 .. size; the cell at each end belongs to the neighbour.
    std::vector<double> rod(part.size() + 2), new_rod(rod);
    if (left < 0) rod.front() = new_rod.front() = 1;
    for (std::uint64_t step = 1; step <= steps; ++step, rod.swap(new_rod)) {
        Halo &here_left = from_left[step % 2], &here_right = from_right[step % 2];
        if (left >= 0) job.put_signal(left, here_right.cell, rod[1], here_right.step, step);
        if (right < job.size()) job.put_signal(right, here_left.cell, rod[part.size()], here_left.step, step);

        // While the halos travel, compute the cells that need none.
        for (std::size_t i = 2; i < part.size(); ++i) new_rod[i] = next(rod[i - 1], rod[i], rod[i + 1]);

        if (left >= 0) {
            job.wait(here_left.step, kumiki::Comparison::at_least, step);
            rod.front() = here_left.cell;
        }
        if (right < job.size()) {
            job.wait(here_right.step, kumiki::Comparison::at_least, step);
            rod.back() = here_right.cell;
        }
        for (const std::size_t i : {std::size_t{1}, part.size()}) new_rod[i] = next(rod[i - 1], rod[i], rod[i + 1]);
    }

    const std::vector<double> expected = whole_rod();
    for (std::size_t i = 1; i <= part.size(); ++i)
        if (rod[i] != expected[part.begin + i])
            throw std::runtime_error("cell " + std::to_string(part.begin + i) + " is " + std::to_string(rod[i]) +
                                     " instead of " + std::to_string(expected[part.begin + i]));
    if (job.rank() == 0)
        std::cout << "the first cell is at " << rod[1] << " degrees after " << steps
                  << " steps, as one rank alone finds\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << "heat: " << error.what() << '\n';
    return 1;
}
