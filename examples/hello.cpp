// The job: one parallel run of several ranks. A rank is a process; this program runs once in each.
//
//     kumiki-run -n 2 ./hello
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job; // joins the job; the destructor leaves it once all other ranks leave, too

    std::cout << "rank " << job.rank() << " of " << job.size() << ", " << job.threads() << " threads\n";

    // A first collective: every rank gets the sum of all rank numbers.
    const int sum = job.all_reduce(job.rank(), kumiki::Operation::sum);
    if (sum != job.size() * (job.size() - 1) / 2)
        throw std::runtime_error("not all ranks took part: the sum is " + std::to_string(sum));
    return 0;
} catch (const std::exception& error) {
    // This rank has left the job by now without waiting for the others, so they learn of the failure at once.
    std::cerr << "hello: " << error.what() << '\n';
    return 1;
}
