#pragma once

#include <cstdint>
#include <span>

#include "bench/common/job_world.hpp"
#include "bench/remote-memory/chain.hpp"
#include "bench/remote-memory/loops.hpp"

// Operations of rank 0 on rank 1's memory in which rank 1 takes no part.

namespace kumiki::bench {

/// The number of walks in a sample. A single one is too short: whether the owner is still awake at its end, and what
/// its caches still have, differs from walk to walk.
inline constexpr int walks = 8;

/// A walk: rank 1 writes the links, then rank 0 fetches one after another; us per fetch. fetch(index) -> word.
/// `check_visits`: the fetch leaves a mark in every link.
template <class Fetch>
Contestant walk(JobWorld& world, Row row, std::span<Link> own, Fetch fetch, bool check_visits) {
    return {std::move(row), [&world, own, fetch, check_visits, chain = Chain(), batch = std::uint64_t{0}]() mutable {
                Sample sample;
                double seconds = 0;
                for (int times = 0; times < walks; ++times) {
                    ++batch;
                    if (world.rank() == 1) chain.write(own, batch);
                    world.barrier();
                    if (world.rank() == 0) {
                        const auto start = Clock::now();
                        sample.right = chain.walk(batch, fetch) && sample.right;
                        seconds += seconds_since(start);
                    }
                    world.barrier();
                    if (world.rank() == 1 && check_visits) sample.right = chain.all_visited(own, batch) && sample.right;
                }
                sample.figure = seconds / walks / Chain::links * 1e6;
                return sample;
            }};
}

Contestant get_latency(JobWorld& world, Job& job, Region<Link>& links);
Contestant fetch_add_latency(JobWorld& world, Job& job, Region<Link>& links);
/// Both ranks add to one counter of rank 1 at the same time; each batch uses another counter.
Contestant contended_fetch_add_latency(JobWorld& world, Job& job, std::span<Mailbox> boxes);
/// The walk by ordinary loads.
Contestant bare_load_latency(JobWorld& world, Region<Link>& links);

} // namespace kumiki::bench
