// Shared arrays that cost what `kumiki run --explain` must find:
//
//   kumiki-test-shared-costs sharing|home|lock|good|dies
//
// sharing: each rank counts in a word of its own, but all words are on one page. home: rank 0 initialises what all
// compute with. lock: a counter under a lock. good: each rank works on what it has initialised. dies: as sharing, but
// rank 1 is killed by itself.
#include <csignal>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <mutex>
#include <string_view>

namespace {

constexpr std::size_t page = 4096 / sizeof(long);

void share_pages(kumiki::Job& job, int dies_at) {
    auto counts = job.share<long>(page, kumiki::Homes::block); // the array of shared counts
    for (int step = 0; step < 200; ++step) {
        if (step == dies_at && job.rank() == 1) std::raise(SIGKILL);
        counts[job.rank() * 8] += 1; // the line of shared counts
        job.shared_barrier();
    }
}

void work_at_another_home(kumiki::Job& job) {
    constexpr std::size_t pages = 32;
    auto data = job.share<long>(pages * page * static_cast<std::size_t>(job.size()), kumiki::Homes::first);
    if (job.rank() == 0)
        for (long& each : data.span()) each = 1;
    job.shared_barrier();
    const std::size_t begin = pages * page * static_cast<std::size_t>(job.rank());
    for (int step = 0; step < 40; ++step) {
        for (std::size_t i = begin; i < begin + pages * page; ++i) data[i] += step;
        job.shared_barrier();
    }
}

void count_under_a_lock(kumiki::Job& job) {
    auto sum = job.share<long>(1);
    kumiki::SharedLock lock = job.shared_lock(3);
    for (int step = 0; step < 500; ++step) {
        const std::lock_guard guard(lock);
        ++sum[0];
    }
    job.shared_barrier();
}

void work_at_home(kumiki::Job& job) {
    constexpr std::size_t pages = 32;
    auto data = job.share<long>(pages * page * static_cast<std::size_t>(job.size()));
    const std::size_t begin = pages * page * static_cast<std::size_t>(job.rank());
    for (std::size_t i = begin; i < begin + pages * page; ++i) data[i] = 1;
    job.shared_barrier();
    for (int step = 0; step < 300; ++step) {
        for (std::size_t i = begin; i < begin + pages * page; ++i) data[i] = data[i] * 7 + step;
        job.shared_barrier();
    }
}

} // namespace

int main(int count, char** arguments) try {
    kumiki::Job job;
    const std::string_view way = count > 1 ? arguments[1] : "";
    if (way == "sharing") share_pages(job, -1);
    else if (way == "dies") share_pages(job, 100);
    else if (way == "home") work_at_another_home(job);
    else if (way == "lock") count_under_a_lock(job);
    else if (way == "good") work_at_home(job);
    else throw std::invalid_argument("there is no such way");
    if (job.rank() == 0) std::cout << "done\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
