#pragma once

#include <gtest/gtest.h>

#include "dsm/shared_memory.hpp"
#include "support/ranks.hpp"

namespace kumiki::tests {

/// Runs body(rank, memory) in ranks that are threads of one process, each with a copy of each page. Each rank has its
/// own addresses, because they are in one process.
template <class Body>
void run_with_copies(FaultMechanism mechanism, JobOptions options, Body body,
                     SharedProtocol protocol = SharedProtocol::invalidate, std::uint64_t cache = 0, bool check = false,
                     std::uint64_t heap = 0) {
    if (mechanism == FaultMechanism::userfaultfd)
        if (const auto works = platform::userfaultfd_works(); !works) GTEST_SKIP() << works.error().message;
    if (options.arena_bytes == JobOptions{}.arena_bytes) options.arena_bytes = std::size_t{64} << 20;
    run_ranks_as_threads(options, [&](Rank& rank) {
        std::byte* const base =
            platform::unused_addresses() + static_cast<std::size_t>(rank.rank()) * options.arena_bytes;
        dsm::SharedMemory memory(rank.fabric, rank.collectives,
                                 {.copies = CopyHolder::rank,
                                  .faults = mechanism,
                                  .protocol = protocol,
                                  .base = base,
                                  .cache = cache,
                                  .check = check,
                                  .heap = heap});
        body(rank, memory);
        // Nobody's copies may go while others still fetch.
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

/// The same with one memory for the ranks of a host, which each rank has at addresses of its own.
template <class Body>
void run_over_one_memory(JobOptions options, Body body, std::uint64_t heap = 0) {
    options.arena_bytes = std::size_t{64} << 20;
    const std::size_t addresses = options.arena_bytes * static_cast<std::size_t>(options.ranks);
    run_ranks_as_threads(options, [&](Rank& rank) {
        std::byte* const base = platform::unused_addresses() + static_cast<std::size_t>(rank.rank()) * addresses;
        dsm::SharedMemory memory(rank.fabric, rank.collectives, {.base = base, .heap = heap});
        body(rank, memory);
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

/// One lock, for std::lock_guard.
struct Lock {
    dsm::SharedMemory& memory;
    int number;
    const void* wanted = nullptr; ///< its page is to come with the lock
    void lock() { ASSERT_TRUE((*memory.locks("test"))->acquire(number, dsm::Locks::no_lock, memory.page_of(wanted))); }
    void unlock() { ASSERT_TRUE((*memory.locks("test"))->release(number)); }
};

inline constexpr dsm::Placement every_placement[] = {dsm::Placement::block, dsm::Placement::cyclic,
                                                     dsm::Placement::first, dsm::Placement::relocated,
                                                     dsm::Placement::managed};

inline constexpr SharedProtocol every_protocol[] = {SharedProtocol::invalidate, SharedProtocol::update};

inline const auto every_mechanism = testing::Values(FaultMechanism::userfaultfd, FaultMechanism::protection);
inline const auto mechanism_name = [](const auto& each) {
    return each.param == FaultMechanism::userfaultfd ? "Userfaultfd" : "Protection";
};

} // namespace kumiki::tests
