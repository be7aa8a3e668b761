// Regions, put and get: memory of a rank that the other ranks write and read without its help.
//
//     kumiki-run -n 4 ./put_get
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

int main() try {
    kumiki::Job job;
    const int right = (job.rank() + 1) % job.size();
    const int left = (job.rank() + job.size() - 1) % job.size();

    // Four numbers at every rank. The address of an element in a rank's own copy also names it at every other rank.
    auto box = job.allocate<double>(4);

    // A gift of four numbers for the right-hand neighbour, each larger than the sender's number.
    std::vector<double> gift(4, job.rank());
    for (int i = 0; i < 4; ++i) gift[static_cast<std::size_t>(i)] += 0.1 * i;
    job.put(right, box.data(), gift);
    job.barrier(); // after the barrier, everything that was put before it has arrived

    if (box[3] != left + 0.1 * 3) throw std::runtime_error("the gift of rank " + std::to_string(left) + " is not here");
    const double returned = job.get(right, box[3]); // one element; job.get(rank, there, span) takes many
    if (returned != gift[3])
        throw std::runtime_error("rank " + std::to_string(right) + " does not hold what was put there");

    if (job.rank() == 0)
        std::cout << "rank 0 was given " << box[3] << " by rank " << left << " and found its own gift at rank " << right
                  << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "put_get: " << error.what() << '\n';
    return 1;
}
