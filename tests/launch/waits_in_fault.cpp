// Ranks of which the first waits inside a fault of a shared array for the second, which does not answer: it has stopped
// itself. Prints a line when that is so.
#include <csignal>
#include <cstdio>
#include <kumiki/kumiki.hpp>
#include <unistd.h>

int main() {
    kumiki::Job job;
    auto array = job.share<int>(1 << 20, kumiki::Homes::block);
    job.shared_barrier();
    if (job.rank() == 1) {
        std::puts("stops");
        std::fflush(stdout);
        raise(SIGSTOP);
        pause();
    }
    usleep(300'000); // until the other one has stopped
    const volatile int& of_the_other = array[array.size() - 1];
    static_cast<void>(of_the_other + 0);
    _exit(7); // the access did not wait: the job ends at once, and the test fails
}
