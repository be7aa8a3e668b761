#pragma once

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/common/affinity.hpp"
#include "bench/common/contest.hpp"

namespace kumiki::bench {

/// Threads that start at an agreed time, each on a core of its own if there are enough.
class Crew {
public:
    explicit Crew(int threads) : threads_(threads), cores_(numbers(allowed_cores())) {}

    int threads() const { return threads_; }
    bool oversubscribed() const { return static_cast<std::size_t>(threads_) > cores_.size(); }

    /// Runs body(thread) on every thread; returns the seconds from the agreed start until the last has finished.
    template <class Body>
    double run(Body body) const {
        Clock::time_point start;
        std::barrier gate(threads_, [&start]() noexcept { start = Clock::now() + std::chrono::microseconds(100); });
        std::vector<Clock::time_point> finished(static_cast<std::size_t>(threads_));
        {
            std::vector<std::jthread> crew;
            for (int thread = 0; thread < threads_; ++thread)
                crew.emplace_back([&, thread] {
                    if (!oversubscribed()) bind_to(cores_, static_cast<std::size_t>(thread));
                    gate.arrive_and_wait();
                    while (Clock::now() < start) {}
                    body(thread);
                    finished[static_cast<std::size_t>(thread)] = Clock::now();
                });
        }
        return std::chrono::duration<double>(*std::max_element(finished.begin(), finished.end()) - start).count();
    }

private:
    int threads_;
    std::vector<int> cores_;
};

} // namespace kumiki::bench
