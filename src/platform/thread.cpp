#include "platform/thread.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <system_error>
#include <time.h>
#include <utility>

#include "platform/signal_sets.hpp"

namespace kumiki::platform {
namespace {

/// A set of this size is large enough for today's machines; the kernel refuses sets that are smaller than its own.
constexpr int most_cpus = 8192;

struct CpuSet {
    CpuSet() : set(CPU_ALLOC(most_cpus)) { CPU_ZERO_S(size, set); }
    CpuSet(const CpuSet&) = delete;
    CpuSet& operator=(const CpuSet&) = delete;
    ~CpuSet() { CPU_FREE(set); }
    cpu_set_t* set;
    static constexpr std::size_t size = CPU_ALLOC_SIZE(most_cpus);
};

} // namespace

std::vector<int> usable_cpus() {
    CpuSet cpus;
    std::vector<int> usable;
    if (sched_getaffinity(0, CpuSet::size, cpus.set) != 0) return usable;
    for (int cpu = 0; cpu < most_cpus; ++cpu)
        if (CPU_ISSET_S(cpu, CpuSet::size, cpus.set)) usable.push_back(cpu);
    return usable;
}

bool bind_to_cpus(const std::vector<int>& cpus) {
    CpuSet chosen;
    for (const int cpu : cpus) CPU_SET_S(cpu, CpuSet::size, chosen.set);
    return sched_setaffinity(0, CpuSet::size, chosen.set) == 0;
}

namespace {

template <class Thread, class Body>
Result<Thread> start(std::string_view duty, Body body) {
    const SignalsBlocked blocked; // the new thread inherits it
    try {
        return Thread(std::move(body));
    } catch (const std::system_error& error) {
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("cannot start the thread that {} ({}); raise the limit (ulimit -u)", duty, error.what()));
    }
}

} // namespace

Result<std::thread> start_thread(std::string_view duty, std::function<void()> body) {
    return start<std::thread>(duty, std::move(body));
}

Result<std::jthread> start_worker(std::string_view duty, std::function<void(std::stop_token)> body) {
    return start<std::jthread>(duty, std::move(body));
}

void yield() { sched_yield(); }

std::chrono::nanoseconds thread_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

} // namespace kumiki::platform
