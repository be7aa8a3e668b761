#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace kumiki::bench {

/// The interface of a parallel run for the measuring loops. A Kumiki job and MPI_COMM_WORLD each have an adaptor
/// (job_world.hpp, mpi_world.hpp), so that both are measured by the same code. The member functions that communicate
/// are collective.
template <class W>
concept World = requires(W& world, std::uint64_t word, double figure, std::span<double> figures) {
    { world.rank() } -> std::same_as<int>;
    { world.size() } -> std::same_as<int>;
    { world.oversubscribed() } -> std::same_as<bool>;
    { world.hosts() } -> std::same_as<int>; // over how many hosts it runs
    world.barrier();
    { world.broadcast(word) } -> std::same_as<std::uint64_t>; // rank 0's word
    { world.largest(figure) } -> std::same_as<double>;
    world.largest(figures); // replaces each figure by the largest of all ranks, at all ranks
};

/// Throws if a run (a World or a Job) does not consist of the two ranks that measure with each other.
void need_two_ranks(const auto& run) {
    if (run.size() != 2)
        throw std::runtime_error("this run has " + std::to_string(run.size()) +
                                 " ranks and needs 2; start it with -n 2 (kumiki-run, mpirun)");
}

/// A program of one process, whose threads are started by rank 0.
struct Alone {
    bool too_many_threads = false;

    int rank() const { return 0; }
    int size() const { return 1; }
    bool oversubscribed() const { return too_many_threads; }
    int hosts() const { return 1; }
    void barrier() const {}
    std::uint64_t broadcast(std::uint64_t word) const { return word; }
    double largest(double figure) const { return figure; }
    void largest(std::span<double>) const {}
};

} // namespace kumiki::bench
