#pragma once

#include <atomic>
#include <cstdint>

#include "kumiki/shared.h"

namespace kumiki::dsm {

/// What the protocol has done at this rank for one array since the array was made.
struct Counters {
    std::atomic<std::uint64_t> faults, fetches, fetched_bytes, twins, differences, difference_bytes, invalidations,
        notices, requests, moves, updates, update_bytes, evictions, early_fetches;

    static void add(std::atomic<std::uint64_t>& counter, std::uint64_t value = 1) {
        counter.fetch_add(value, std::memory_order_relaxed);
    }
    void add_to(kumiki_shared_counters& sum) const {
        sum.faults += faults.load(std::memory_order_relaxed);
        sum.fetches += fetches.load(std::memory_order_relaxed);
        sum.fetched_bytes += fetched_bytes.load(std::memory_order_relaxed);
        sum.twins += twins.load(std::memory_order_relaxed);
        sum.differences += differences.load(std::memory_order_relaxed);
        sum.difference_bytes += difference_bytes.load(std::memory_order_relaxed);
        sum.invalidations += invalidations.load(std::memory_order_relaxed);
        sum.notices += notices.load(std::memory_order_relaxed);
        sum.home_requests += requests.load(std::memory_order_relaxed);
        sum.homes_moved += moves.load(std::memory_order_relaxed);
        sum.updates += updates.load(std::memory_order_relaxed);
        sum.update_bytes += update_bytes.load(std::memory_order_relaxed);
        sum.evictions += evictions.load(std::memory_order_relaxed);
        sum.early_fetches += early_fetches.load(std::memory_order_relaxed);
    }
};

} // namespace kumiki::dsm
