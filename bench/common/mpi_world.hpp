#pragma once

#include <mpi.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/common/affinity.hpp"
#include "bench/common/world.hpp"

namespace kumiki::bench {

/// MPI from MPI_Init to MPI_Finalize, in the form that the measuring loops use. Each rank is bound to a core of its own
/// if there are enough: kumiki-run does this, too, and of the two MPIs only one does it by default.
class MpiWorld {
public:
    MpiWorld(int* argc, char*** argv) {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        count_hosts();
        bind();
    }
    MpiWorld(const MpiWorld&) = delete;
    MpiWorld& operator=(const MpiWorld&) = delete;
    ~MpiWorld() { MPI_Finalize(); }

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool oversubscribed() const { return oversubscribed_; }
    int hosts() const { return hosts_; }
    void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
    std::uint64_t broadcast(std::uint64_t word) {
        MPI_Bcast(&word, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        return word;
    }
    double largest(double figure) {
        largest({&figure, 1});
        return figure;
    }
    void largest(std::span<double> figures) {
        MPI_Allreduce(MPI_IN_PLACE, figures.data(), static_cast<int>(figures.size()), MPI_DOUBLE, MPI_MAX,
                      MPI_COMM_WORLD);
    }

private:
    void count_hosts() {
        MPI_Comm host = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
        int place = 0;
        MPI_Comm_rank(host, &place);
        MPI_Comm_free(&host);
        const int leads = place == 0 ? 1 : 0;
        MPI_Allreduce(&leads, &hosts_, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }

    /// The number among the ranks of one machine, which may be several hosts (network namespaces, containers) that
    /// share its cores.
    void bind() {
        std::string boot;
        std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
        const int machine_number = static_cast<int>(std::hash<std::string>{}(boot) & 0x7fffffff);
        MPI_Comm machine = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, machine_number, rank_, &machine);
        int place = 0, ranks = 1;
        MPI_Comm_rank(machine, &place);
        MPI_Comm_size(machine, &ranks);
        // A launcher may have given each rank a different core, so the cores of the job are those of all its ranks.
        cpu_set_t cores = allowed_cores();
        MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, machine);
        MPI_Comm_free(&machine);
        const std::vector<int> all = numbers(cores);
        const int crowded = static_cast<std::size_t>(ranks) > all.size() ? 1 : 0;
        if (crowded == 0) bind_to(all, static_cast<std::size_t>(place));
        int anywhere = 0;
        MPI_Allreduce(&crowded, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        oversubscribed_ = anywhere != 0;
    }

    int rank_ = 0;
    int size_ = 1;
    int hosts_ = 1;
    bool oversubscribed_ = false;
};

static_assert(World<MpiWorld>);

} // namespace kumiki::bench
