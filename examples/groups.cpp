// Groups: collectives of some of the ranks. Here the ranks form a grid, and each row and each column is a group.
//
//     kumiki-run -n 4 ./groups
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

int main() try {
    kumiki::Job job;
    int width = 1;
    while ((width + 1) * (width + 1) <= job.size()) ++width;

    // Ranks that pass the same number form a group, ordered by rank.
    auto row = job.split(job.rank() / width), column = job.split(job.rank() % width);

    const int in_row = row->all_reduce(job.rank(), kumiki::Operation::sum);
    const std::vector<int> in_column = column->all_gather(job.rank()); // the rank in the job of each member
    for (int place = 0; place < column->size(); ++place)
        if (in_column[static_cast<std::size_t>(place)] != column->rank_in_job(place))
            throw std::runtime_error("place " + std::to_string(place) + " is taken by another rank");

    // The first ranks of all rows also form a group; the other ranks are in no such group.
    auto firsts = job.split(row->rank() == 0 ? 0 : -1);
    if (firsts) {
        const int up_to_here = firsts->scan(in_row, kumiki::Operation::sum);
        const auto rows = firsts->gather(up_to_here, 0);
        if (job.rank() == 0) {
            std::cout << "ranks added up, row by row:";
            for (const int sum : rows) std::cout << ' ' << sum;
            std::cout << '\n';
            if (rows.back() != job.size() * (job.size() - 1) / 2) throw std::runtime_error("not all ranks are there");
        }
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "groups: " << error.what() << '\n';
    return 1;
}
