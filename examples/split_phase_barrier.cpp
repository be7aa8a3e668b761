// The split-phase barrier: announce your arrival, compute something that needs no other rank, and only then wait.
//
//     kumiki-run -n 2 ./split_phase_barrier
#include <cmath>
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    const int right = (job.rank() + 1) % job.size();
    const int left = (job.rank() + job.size() - 1) % job.size();
    auto from_left = job.allocate<double>(2); // used in turn, so that one barrier in a step is enough

    double sum = 0;
    for (int step = 1; step <= 100; ++step) {
        double& here = from_left[static_cast<std::size_t>(step % 2)];
        job.put(right, here, job.rank() + 1000.0 * step);
        job.barrier_enter(); // announces that this rank's part of the step is complete

        for (int i = 0; i < 1000; ++i) sum += std::sqrt(i); // work that hides the delay of the others

        job.barrier_wait(); // the parts of all ranks are complete
        if (here != left + 1000.0 * step)
            throw std::runtime_error("step " + std::to_string(step) + ": the number of rank " + std::to_string(left) +
                                     " did not come");
    }
    if (sum < 2.1e6 || sum > 2.2e6)
        throw std::runtime_error("the work between enter and wait went wrong: " + std::to_string(sum));

    if (job.rank() == 0) std::cout << "100 barriers with work inside, and nothing came late\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << "split_phase_barrier: " << error.what() << '\n';
    return 1;
}
