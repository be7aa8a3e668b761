#pragma once

#include <cstdint>

#include "bench/common/world.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// A Kumiki job as the measuring loops see it.
class JobWorld {
public:
    explicit JobWorld(Job& job) : job_(job) {}

    int rank() const { return job_.rank(); }
    int size() const { return job_.size(); }
    bool oversubscribed() const { return job_.oversubscribed(); }
    void barrier() { job_.barrier(); }
    std::uint64_t broadcast(std::uint64_t word) {
        job_.broadcast(word, 0);
        return word;
    }
    double largest(double figure) { return job_.all_reduce(figure, Operation::max); }

private:
    Job& job_;
};

static_assert(World<JobWorld>);

} // namespace kumiki::bench
