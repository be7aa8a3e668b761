#pragma once

#include <string_view>
#include <vector>

#include "openmp/settings.hpp"

/// OMP_PLACES and OMP_PROC_BIND: to which processors threads are bound.
namespace kumiki::openmp {

/// Some of the places in their order, which a thread may give to the threads of its next region.
struct Partition {
    int first = 0;
    int length = 0;

    bool operator==(const Partition&) const = default;
};

/// Where the threads of a region sit. Empty: they are not bound.
struct Seats {
    std::vector<int> places;           ///< of each thread
    std::vector<Partition> partitions; ///< of each thread

    bool operator==(const Seats&) const = default;
};

/// Deals out the places of `partition` to threads as `bind` says; the master sits at `master_place`.
Seats seats_for(Bind bind, int threads, int master_place, Partition partition, int all_places);

/// Reads a value of OMP_PLACES; empty if it cannot be understood. `cpus` are those that the process may use.
std::vector<Place> read_places(std::string_view text, const std::vector<int>& cpus);

/// Reads a value of GOMP_CPU_AFFINITY: each processor becomes a place.
std::vector<Place> read_cpu_affinity(std::string_view text, const std::vector<int>& cpus);

/// One place for each processor (threads), core (cores), shared last-level cache (ll_caches), memory (numa_domains) or
/// socket (sockets); none if the name is not one of these.
std::vector<Place> places_of_kind(std::string_view kind, const std::vector<int>& cpus);

} // namespace kumiki::openmp
