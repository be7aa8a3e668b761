#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "bench/common/affinity.hpp"
#include "bench/common/world.hpp"

namespace kumiki::bench {

/// MPI from MPI_Init to MPI_Finalize, as the measuring loops see it. Each rank is bound to a core of its own while
/// there are enough: kumiki-run does so too, and one MPI binds by default and the other does not.
class MpiWorld {
public:
    MpiWorld(int* argc, char*** argv) {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        // A launcher may have given each rank another core: the cores of the job are those of all its ranks.
        cpu_set_t cores = allowed_cores();
        MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
        const std::vector<int> all = numbers(cores);
        oversubscribed_ = static_cast<std::size_t>(size_) > all.size();
        if (!oversubscribed_) bind_to(all, static_cast<std::size_t>(rank_));
    }
    MpiWorld(const MpiWorld&) = delete;
    MpiWorld& operator=(const MpiWorld&) = delete;
    ~MpiWorld() { MPI_Finalize(); }

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool oversubscribed() const { return oversubscribed_; }
    void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
    std::uint64_t broadcast(std::uint64_t word) {
        MPI_Bcast(&word, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        return word;
    }
    double largest(double figure) {
        MPI_Allreduce(MPI_IN_PLACE, &figure, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return figure;
    }

private:
    int rank_ = 0;
    int size_ = 1;
    bool oversubscribed_ = false;
};

static_assert(World<MpiWorld>);

} // namespace kumiki::bench
