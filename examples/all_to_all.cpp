// All-to-all: every rank has a piece for every rank. Here the ranks transpose a matrix; each rank holds one row of it.
//
//     kumiki-run -n 4 ./all_to_all
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

int main() try {
    kumiki::Job job;
    const auto ranks = static_cast<std::size_t>(job.size());
    const auto me = static_cast<std::size_t>(job.rank());

    std::vector<std::size_t> row(ranks), column(ranks);
    for (std::size_t c = 0; c < ranks; ++c) row[c] = 100 * me + c;

    job.all_to_all(row, column); // row[r] goes to rank r; what rank r sent comes to column[r]

    for (std::size_t r = 0; r < ranks; ++r)
        if (column[r] != 100 * r + me)
            throw std::runtime_error("rank " + std::to_string(r) + " sent " + std::to_string(column[r]) +
                                     " instead of " + std::to_string(100 * r + me));

    if (job.rank() == 0) {
        std::cout << "column 0:";
        for (const std::size_t element : column) std::cout << ' ' << element;
        std::cout << '\n';
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "all_to_all: " << error.what() << '\n';
    return 1;
}
