// Rows between four hosts, where the way of a slab changes from one step to the next (SwapBoard). Started by
// kumiki-run; says what is wrong, and then ends with 1.
#include "linpack/swap_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

using namespace kumiki;
using namespace kumiki::linpack;

namespace {

constexpr std::size_t sent_rows = 2;
constexpr Travel by_columns{Broadcast::ring, Swap::mixed, 4};
const Slab wide{0, {0, 8}}, narrow{0, {0, 4}};

void send(SwapBoard& board, std::size_t step, const Slab& slab, double value) {
    std::fill_n(board.piece(step, slab.columns.begin), sent_rows * slab.columns.size(), value);
    board.publish(step, slab, sent_rows);
}

/// The piece of process row 0 consists of this value; else the program ends, and kumiki-run ends the other ranks.
void expect(SwapBoard& board, std::size_t step, const Slab& slab, double value) {
    const double* const piece = board.await(step, slab, 0, sent_rows);
    const std::size_t count = sent_rows * slab.columns.size();
    if (std::count(piece, piece + count, value) == static_cast<std::ptrdiff_t>(count)) return;
    fmt::print(stderr, "the rows of step {} are not there, but await() has returned\n", step);
    std::_Exit(1);
}

/// Row 0's piece of step 0 takes the ring 0, 1, 2, 3, and that of step 1 the tree, in which row 3 has it from row 1.
/// Row 2 is so late that row 3 has the second piece first.
void second_before_first(Job& job, SwapBoard& board) {
    auto second_is_there = job.allocate<Signal>(1);
    switch (job.rank()) {
    case 0:
        send(board, 0, wide, 1);
        send(board, 1, narrow, 2);
        break;
    case 1:
        expect(board, 0, wide, 1);
        expect(board, 1, narrow, 2);
        break;
    case 2:
        job.wait(second_is_there[0], Comparison::at_least, 1);
        expect(board, 0, wide, 1);
        break;
    default:
        expect(board, 1, narrow, 2);
        job.signal(2, second_is_there[0], 1);
        expect(board, 0, wide, 1);
        // A signal that the late piece sets back would hold the rank here for ever.
        expect(board, 1, narrow, 2);
    }
    job.barrier();
}

} // namespace

int main() {
    Job job;
    Place place(job, {4, 1, true});
    SwapBoard board(place, sent_rows, wide.columns.size(), 1, by_columns);
    second_before_first(job, board);
}
