// Ranks that all wait for a lock of shared arrays, which one of them has and never releases.
//   holds_lock RANK LOCK exits|stays|faults|lives
// Rank RANK takes the lock, prints a line, and then leaves the program without a word (`exits`), or stays, stopped,
// until something is done to it. With `faults`, those of the other host wait for its pages inside a fault, and not for
// the lock. Two ranks are on each host. With `lives` the holder is not stopped.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <kumiki/kumiki.hpp>
#include <string_view>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const int holder = std::atoi(argv[1]);
    const std::string_view what = argv[3];
    kumiki::Job job;
    auto array = job.share<int>(1 << 20, kumiki::Homes::block);
    auto lock = job.shared_lock(std::atoi(argv[2]));
    const auto part = array.size() / static_cast<std::size_t>(job.size());
    if (job.rank() == holder) {
        lock.lock();
        array[part * static_cast<std::size_t>(holder)] = 1;
    }
    job.barrier();
    if (job.rank() == holder) {
        std::puts("holds");
        std::fflush(stdout);
        usleep(300'000); // until the others wait
        if (what == "exits") std::exit(0);
        if (what != "lives") raise(SIGSTOP);
        pause();
    }
    if (what == "faults" && job.rank() / 2 != holder / 2) { // not of its host, who need not wait for a page
        usleep(600'000);                                    // until the holder has stopped
        const volatile int& of_the_holder = array[part * static_cast<std::size_t>(holder)];
        static_cast<void>(of_the_holder + 0);
    } else {
        lock.lock();
    }
    _exit(7); // it did not wait: the job ends at once, and the test fails
}
