// The job: one parallel run of several ranks. A rank is a process; this program runs once in each.
//
//     kumiki-run -n 2 ./hello
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job; // joins the run; at the end of its life the rank leaves, and waits for the others to come that far

    std::cout << "rank " << job.rank() << " of " << job.size() << ", " << job.threads() << " threads\n";

    // A first thing done together: the sum of all ranks' numbers, known to every rank.
    const int sum = job.all_reduce(job.rank(), kumiki::Operation::sum);
    if (sum != job.size() * (job.size() - 1) / 2)
        throw std::runtime_error("not all ranks took part: the sum is " + std::to_string(sum));
    return 0;
} catch (const std::exception& error) {
    // The job is left by now, without waiting for anybody, so that a failure of one rank is seen at once.
    std::cerr << "hello: " << error.what() << '\n';
    return 1;
}
