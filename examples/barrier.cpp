// The barrier: no rank continues before all ranks have arrived. It separates the steps of a computation.
//
//     kumiki-run -n 4 ./barrier
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    const auto ranks = static_cast<std::size_t>(job.size());
    auto board = job.allocate<int>(ranks); // board[r] belongs to rank r, which writes it at every rank

    constexpr int steps = 100;
    for (int step = 1; step <= steps; ++step) {
        for (int rank = 0; rank < job.size(); ++rank) job.put(rank, board[static_cast<std::size_t>(job.rank())], step);
        job.barrier(); // all ranks have written
        for (std::size_t rank = 0; rank < ranks; ++rank)
            if (board[rank] != step)
                throw std::runtime_error("in step " + std::to_string(step) + " rank " + std::to_string(rank) +
                                         " was seen in step " + std::to_string(board[rank]));
        job.barrier(); // all ranks have read: the next step may overwrite the board
    }
    if (job.rank() == 0) std::cout << job.size() << " ranks took " << steps << " steps together\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << "barrier: " << error.what() << '\n';
    return 1;
}
