// Reduce and all-reduce: pi as the area under 4 / (1 + x^2) from 0 to 1; each rank computes a part of it.
//
//     kumiki-run -n 4 ./reduce
#include <array>
#include <cmath>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <numbers>

int main() try {
    kumiki::Job job;
    constexpr std::size_t strips = 1000000;
    const kumiki::Part mine = kumiki::part_of(strips, job.size(), job.rank());

    double area = 0;
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
        const double x = (static_cast<double>(i) + 0.5) / strips;
        area += 4 / (1 + x * x) / strips;
    }
    const double pi = job.all_reduce(area, kumiki::Operation::sum); // every rank gets the same bits
    if (std::abs(pi - std::numbers::pi) > 1e-10) throw std::runtime_error("pi became " + std::to_string(pi));

    // Reduce gives the result to one rank only, and works element by element.
    std::array<std::uint64_t, 2> done = {mine.size(), 1};
    job.reduce(done, kumiki::Operation::sum, 0);
    if (job.rank() == 0) {
        if (done[0] != strips || done[1] != static_cast<std::uint64_t>(job.size()))
            throw std::runtime_error("a part is missing");
        std::cout.precision(12);
        std::cout << "pi is about " << pi << ", from " << done[0] << " strips on " << done[1] << " ranks\n";
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "reduce: " << error.what() << '\n';
    return 1;
}
