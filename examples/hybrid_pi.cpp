// Ranks and threads together: pi by integration, with a barrier and a reduction over all threads of all ranks.
//
//     kumiki-run -n 2 -t 2 ./hybrid_pi
#include <chrono>
#include <cmath>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <numbers>

int main() try {
    kumiki::Job job;
    kumiki::Team team(job);
    std::cout.precision(12);
    constexpr std::size_t strips = 10000000;
    const kumiki::Part of_rank = kumiki::part_of(strips, job.size(), job.rank());

    team.run([&](kumiki::Member& me) {
        me.barrier_all(); // all threads of all ranks start together
        const auto start = std::chrono::steady_clock::now();

        const kumiki::Part of_thread = me.part(of_rank.size());
        double area = 0;
        for (std::size_t i = of_thread.begin; i < of_thread.end; ++i) {
            const double x = (static_cast<double>(of_rank.begin + i) + 0.5) / strips;
            area += 4 / (1 + x * x) / strips;
        }
        const double pi = me.reduce_all(area, kumiki::Operation::sum); // first over the threads, then over the ranks

        if (std::abs(pi - std::numbers::pi) > 1e-9) throw std::runtime_error("pi became " + std::to_string(pi));
        const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
        if (me.master() && job.rank() == 0)
            std::cout << "pi is about " << pi << ", by " << job.size() << " ranks of " << me.threads() << " threads in "
                      << time.count() << " ms\n";
    });
    return 0;
} catch (const std::exception& error) {
    std::cerr << "hybrid_pi: " << error.what() << '\n';
    return 1;
}
