#pragma once

#include <gtest/gtest.h>

#include "dsm/shared_memory.hpp"
#include "support/ranks.hpp"

namespace kumiki::tests {

/// Runs body(rank, memory) in ranks that are threads of one process, each with a copy of each page. Each rank has its
/// own addresses, because they are in one process.
template <class Body>
void run_with_copies(FaultMechanism mechanism, JobOptions options, Body body) {
    if (mechanism == FaultMechanism::userfaultfd)
        if (const auto works = platform::userfaultfd_works(); !works) GTEST_SKIP() << works.error().message;
    options.arena_bytes = std::size_t{64} << 20;
    run_ranks_as_threads(options, [&](Rank& rank) {
        std::byte* const base =
            platform::unused_addresses() + static_cast<std::size_t>(rank.rank()) * options.arena_bytes;
        dsm::SharedMemory memory(rank.fabric, rank.collectives, {CopyHolder::rank, mechanism, base});
        body(rank, memory);
        // Nobody's copies may go while others still fetch.
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

template <class T>
T* allocate_shared(dsm::SharedMemory& memory, std::size_t count, dsm::Placement placement = dsm::Placement::block,
                   std::size_t page = 0) {
    auto allocated = memory.allocate(count * sizeof(T), page, placement);
    EXPECT_TRUE(allocated) << allocated.error().message;
    return static_cast<T*>(*allocated);
}

inline constexpr dsm::Placement every_placement[] = {dsm::Placement::block, dsm::Placement::cyclic,
                                                     dsm::Placement::first, dsm::Placement::relocated,
                                                     dsm::Placement::managed};

inline const auto every_mechanism = testing::Values(FaultMechanism::userfaultfd, FaultMechanism::protection);
inline const auto mechanism_name = [](const auto& each) {
    return each.param == FaultMechanism::userfaultfd ? "Userfaultfd" : "Protection";
};

} // namespace kumiki::tests
