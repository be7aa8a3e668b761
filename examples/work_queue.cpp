// Atomics: a counter at rank 0 from which every rank takes the number of its next piece of work.
// A faster rank takes more pieces.
//
//     kumiki-run -n 2 ./work_queue
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    struct Shared {
        std::uint64_t next;  ///< the first piece that no rank has taken
        std::uint64_t first; ///< the rank that finished first, plus one; 0: none yet
    };
    auto shared = job.allocate<Shared>(1); // only rank 0's copy is used

    constexpr std::uint64_t pieces = 10000;
    std::uint64_t done = 0, sum = 0;
    for (std::uint64_t piece; (piece = job.fetch_add(0, shared[0].next, 1)) < pieces; ++done) sum += piece;

    // compare_swap writes only if the word still has the expected value, and returns the value before:
    // only one rank sees the 0.
    const bool was_first = job.compare_swap(0, shared[0].first, 0, static_cast<std::uint64_t>(job.rank()) + 1) == 0;

    const std::uint64_t total = job.all_reduce(sum, kumiki::Operation::sum);
    const int firsts = job.all_reduce(was_first ? 1 : 0, kumiki::Operation::sum);
    if (total != pieces * (pieces - 1) / 2) throw std::runtime_error("a piece was lost or done twice");
    if (firsts != 1) throw std::runtime_error(std::to_string(firsts) + " ranks finished first");

    std::cout << "rank " << job.rank() << " did " << done << " of " << pieces << " pieces"
              << (was_first ? " and finished first\n" : "\n");
    return 0;
} catch (const std::exception& error) {
    std::cerr << "work_queue: " << error.what() << '\n';
    return 1;
}
