#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "bench/common/contest.hpp"
#include "bench/common/pair.hpp"
#include "bench/common/world.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// Two ranks of a job in the form that the measuring loops use: the first is rank 0, whose clock counts and which
/// decides, the second is rank 1, and all others are ranks 2, which take no part. All ranks of the job call its
/// collective functions.
class PairWorld {
public:
    PairWorld(Job& job, Pair pair) : job_(job), pair_(pair) {}

    int rank() const { return job_.rank() == pair_.first ? 0 : job_.rank() == pair_.second ? 1 : 2; }
    int size() const { return 2; }
    bool oversubscribed() const { return job_.oversubscribed(); }
    int hosts() const { return 2; }
    void barrier() { job_.barrier(); }
    std::uint64_t broadcast(std::uint64_t word) {
        job_.broadcast(word, pair_.first);
        return word;
    }
    double largest(double figure) { return job_.all_reduce(figure, Operation::max); }
    void largest(std::span<double> figures) { job_.all_reduce(figures, Operation::max); }

private:
    Job& job_;
    Pair pair_;
};

static_assert(World<PairWorld>);

/// Makes a contestant of the pair one of the whole job: its figure becomes known at all ranks, so that rank 0 can print
/// it.
inline Contestant told_to_all(PairWorld& world, Contestant contestant) {
    contestant.take = [&world, take = std::move(contestant.take)] {
        Sample sample = take();
        sample.figure = std::bit_cast<double>(world.broadcast(std::bit_cast<std::uint64_t>(sample.figure)));
        return sample;
    };
    return contestant;
}

} // namespace kumiki::bench
