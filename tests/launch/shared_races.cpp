// Shared arrays that KUMIKI_SHARED_CHECK must find races in, or none:
//
//   kumiki-test-shared-races one|two|page|good|locked|dies
//
// one: all ranks count in one word. two: rank 0 writes a word at one line, rank 1 at another. page: the same, but both
// have written elsewhere to the page first. good: neighbouring words. locked: as one, under a lock. dies: as one, but
// rank 1 then ends the job.
#include <cstdlib>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace {

constexpr int steps = 5;

void count(kumiki::Job& job, volatile long* counts) {
    for (int step = 0; step < steps; ++step) {
        counts[10] = 100 * step + job.rank() + 1; // the line of one
        job.shared_barrier();
    }
}

void write_by_two_lines(kumiki::Job& job, volatile long* counts, bool elsewhere_first) {
    if (job.rank() == 0) {
        if (elsewhere_first) counts[40] = 1; // the first line of rank 0
        counts[20] = 1;                      // the line of rank 0
    } else if (job.rank() == 1) {
        if (elsewhere_first) counts[41] = 1; // the first line of rank 1
        counts[20] = 2;                      // the line of rank 1
    }
    job.shared_barrier();
}

void count_in_own_words(kumiki::Job& job, volatile long* counts) {
    for (int step = 0; step < steps; ++step) {
        counts[job.rank()] = step + 1;
        job.shared_barrier();
    }
}

void count_under_a_lock(kumiki::Job& job, volatile long* counts) {
    kumiki::SharedLock lock = job.shared_lock(3);
    for (int step = 0; step < 20; ++step) {
        const std::lock_guard guard(lock);
        counts[10] = counts[10] + 1;
    }
    job.shared_barrier();
}

} // namespace

int main(int count_of_words, char** arguments) try {
    kumiki::Job job;
    const std::string_view way = count_of_words > 1 ? arguments[1] : "";
    auto array = job.share<long>(1000, kumiki::Homes::block); // the array with races
    volatile long* const counts = array.data();
    job.shared_barrier();
    if (way == "one" || way == "dies") count(job, counts);
    else if (way == "two") write_by_two_lines(job, counts, false);
    else if (way == "page") write_by_two_lines(job, counts, true);
    else if (way == "good") count_in_own_words(job, counts);
    else if (way == "locked") count_under_a_lock(job, counts);
    else throw std::invalid_argument("there is no such way");
    if (way == "dies" && job.rank() == 1) std::_Exit(5);
    if (job.rank() == 0 && way != "dies") std::cout << "done\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
