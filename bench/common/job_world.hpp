#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/common/world.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// The host of each rank, counted from 0 in the order of their first ranks. Collective.
inline std::vector<int> hosts_of(Job& job) {
    const auto probe = job.allocate<char>(1);
    // Ranks of one host have the same first rank: the lowest one whose memory is accessible from here.
    int first = 0;
    while (probe.at(first).empty()) ++first;
    std::vector<int> firsts(static_cast<std::size_t>(job.size()));
    firsts[static_cast<std::size_t>(job.rank())] = first;
    job.all_reduce(firsts, Operation::max);
    std::vector<int> known, hosts;
    for (const int each : firsts) {
        const auto found = std::ranges::find(known, each);
        hosts.push_back(static_cast<int>(found - known.begin()));
        if (found == known.end()) known.push_back(each);
    }
    return hosts;
}

/// A Kumiki job in the form that the measuring loops use. Constructing it is collective.
class JobWorld {
public:
    explicit JobWorld(Job& job) : job_(job), hosts_(std::ranges::max(hosts_of(job)) + 1) {}

    int rank() const { return job_.rank(); }
    int size() const { return job_.size(); }
    bool oversubscribed() const { return job_.oversubscribed(); }
    int hosts() const { return hosts_; }
    void barrier() { job_.barrier(); }
    std::uint64_t broadcast(std::uint64_t word) {
        job_.broadcast(word, 0);
        return word;
    }
    double largest(double figure) { return job_.all_reduce(figure, Operation::max); }
    void largest(std::span<double> figures) { job_.all_reduce(figures, Operation::max); }

private:
    Job& job_;
    int hosts_;
};

static_assert(World<JobWorld>);

} // namespace kumiki::bench
