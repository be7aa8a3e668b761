#include "kernels/laplace/hybrid.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/common/settle.hpp"
#include "kernels/common/working_threads.hpp"

namespace kumiki::kernels::laplace {

Hybrid::Hybrid(Job& job, const Options& options)
    : job_(job),
      team_(job, working_threads(job, options.all_threads)),
      communication_(options.communication),
      overlap_(options.overlap),
      columns_(options.problem.size),
      halo_length_(Block::halo_length(options.problem)),
      halos_(job.allocate<double>(4 * halo_length_)),
      arrivals_(job.allocate<Arrival>(2)),
      blocks_(static_cast<std::size_t>(team_.size())) {
    const auto workers = static_cast<std::size_t>(job.size()) * blocks_.size();
    if (options.problem.size < workers)
        throw std::runtime_error("a grid of " + std::to_string(options.problem.size) + " rows cannot be cut for " +
                                 std::to_string(workers) +
                                 " threads; give --size at least as many rows as there are threads in all ranks");
    // Every thread makes its own block, so that its memory lies near it.
    team_.run([&](Member& member) { make_block(member, options.problem); });
}

Workers Hybrid::workers() const {
    return {"kumiki", "hybrid", job_.size(), job_.threads(), job_.oversubscribed(), team_.size()};
}

void Hybrid::make_block(const Member& member, const Problem& problem) {
    const Part mine = part_of(problem.size, job_.size(), rank());
    const Part part = member.part(mine.size());
    auto& block = blocks_[static_cast<std::size_t>(member.thread())];
    block = std::make_unique<Block>(problem, Range{mine.begin + part.begin, mine.begin + part.end});
    const bool outermost[] = {member.master(), member.thread() + 1 == member.threads()};
    for (const Side side : sides)
        if (outermost[static_cast<std::size_t>(side)] && has_neighbour(side))
            block->place_halo(side, halo(side, 0), halo(side, 1));
    block->reset();
}

double* Hybrid::halo(Side side, std::size_t step) {
    return halos_.data() + (2 * static_cast<std::size_t>(side) + step % 2) * halo_length_;
}

const double* Hybrid::fresh_edge(Side side) const {
    const Block& block = side == Side::north ? *blocks_.front() : *blocks_.back();
    return overlap_ ? block.early_edge(side) : block.edge(side);
}

Hybrid::Duties Hybrid::duties_of(const Member& member) const {
    Duties duties;
    const bool last = member.thread() + 1 == member.threads();
    if (!member.master()) duties.inside.push_back(Side::north);
    if (!last) duties.inside.push_back(Side::south);
    const bool by_master = communication_ == Communication::master;
    if (has_neighbour(Side::north) && member.master()) duties.outside.push_back(Side::north);
    if (has_neighbour(Side::south) && (by_master ? member.master() : last)) duties.outside.push_back(Side::south);
    duties.crossing = by_master && member.threads() > 1 && has_neighbour(Side::south);
    return duties;
}

void Hybrid::hand_over(const Member& member, Side side, std::size_t step) {
    const auto thread = static_cast<std::size_t>(member.thread());
    Block& sibling = *blocks_[side == Side::north ? thread - 1 : thread + 1];
    std::copy_n(blocks_[thread]->edge(side), columns_, sibling.halo(opposite(side), step));
}

void Hybrid::send(Side side, std::size_t step) {
    const Side there = opposite(side);
    job_.put_signal(neighbour(side), halo(there, step), std::span(fresh_edge(side), columns_),
                    arrivals_[static_cast<std::size_t>(there)].count, arrived_before_ + step);
}

void Hybrid::receive(Side side, std::size_t step) {
    job_.wait(arrivals_[static_cast<std::size_t>(side)].count, Comparison::at_least, arrived_before_ + step);
}

Phases Hybrid::take_steps(Member& member, std::size_t iterations) {
    Block& block = *blocks_[static_cast<std::size_t>(member.thread())];
    const Duties duties = duties_of(member);
    Phases phases;
    for (std::size_t step = 1; step <= iterations; ++step) {
        phases.enter(Phase::computation);
        if (overlap_) block.relax_edges();
        else block.relax();
        if (duties.crossing) {
            phases.enter(Phase::synchronisation);
            member.barrier();
        }
        if (!duties.outside.empty()) {
            phases.enter(Phase::communication);
            for (const Side side : duties.outside) send(side, step);
        }
        phases.enter(Phase::computation);
        if (overlap_) block.relax_inside();
        for (const Side side : duties.inside) hand_over(member, side, step);
        if (!duties.outside.empty()) {
            phases.enter(Phase::communication);
            for (const Side side : duties.outside) receive(side, step);
        }
        if (member.threads() > 1) {
            phases.enter(Phase::synchronisation);
            member.barrier();
        }
    }
    phases.enter(Phase::synchronisation);
    member.barrier_all();
    phases.stop();
    return phases;
}

RunTimes Hybrid::run(std::size_t iterations) {
    RunTimes times;
    team_.run([&](Member& member) {
        blocks_[static_cast<std::size_t>(member.thread())]->reset();
        member.barrier_all();
        const auto start = measure::Clock::now();
        const Phases phases = take_steps(member, iterations);
        if (member.master()) times = {measure::seconds_since(start), phases};
    });
    arrived_before_ += iterations;
    return largest(job_, times);
}

std::uint64_t Hybrid::checksum() {
    std::uint64_t sum = 0;
    for (const auto& block : blocks_) sum += block->checksum();
    return job_.all_reduce(sum, Operation::sum);
}

bool Hybrid::agree(bool mine) { return agreed(job_, mine); }

} // namespace kumiki::kernels::laplace
