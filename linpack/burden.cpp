#include "linpack/burden.hpp"

#include <sched.h>

#include <span>
#include <stdexcept>

namespace kumiki::linpack {

Burden::Burden(Job& job) {
    if (job.rank() + 1 != job.size()) return;
    const std::span<const int> processors = job.processors();
    if (processors.empty())
        throw std::runtime_error("--burden: the threads of the last rank are not bound to processors; start the job "
                                 "with no more threads than cores, or with kumiki-run --bind shared");
    thread_ = std::thread([this, processor = processors.back()] {
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<std::size_t>(processor), &here);
        sched_setaffinity(0, sizeof here, &here);
        while (!done_.load(std::memory_order_relaxed)) {}
    });
}

Burden::~Burden() {
    done_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

} // namespace kumiki::linpack
