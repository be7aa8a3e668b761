// A team: the threads of one rank, which share its memory. Each takes its part of a range.
//
//     kumiki-run -n 1 -t 4 ./team
#include <atomic>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

int main() try {
    kumiki::Job job;
    kumiki::Team team(job); // as many threads as the launcher says (-t); they live as long as the team

    constexpr std::size_t length = 1000000;
    std::vector<double> x(length), y(length);
    double product = 0;

    team.run([&](kumiki::Member& me) { // runs once on every thread
        const kumiki::Part mine = me.part(length);
        for (std::size_t i = mine.begin; i < mine.end; ++i) x[i] = static_cast<double>(i % 10);
        me.barrier(); // now x is complete, including the other threads' parts

        double sum = 0;
        for (std::size_t i = mine.begin; i < mine.end; ++i) {
            y[i] = 2 * x[length - 1 - i];
            sum += x[i] * y[i];
        }
        sum = me.reduce(sum, kumiki::Operation::sum); // every thread gets the sum over all
        if (me.master()) product = sum;
    });

    // Every ten adjacent elements contribute the sum of 2 d (9 - d) over the digits d, which is 240.
    if (product != 240.0 * length / 10) throw std::runtime_error("the product is " + std::to_string(product));
    if (job.rank() == 0) std::cout << team.size() << " threads found the product " << product << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "team: " << error.what() << '\n';
    return 1;
}
