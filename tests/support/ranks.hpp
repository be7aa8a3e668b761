#pragma once

#include <functional>
#include <memory>

#include "collective/collectives.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::tests {

/// One rank of a job in a test.
struct Rank {
    fabric::Fabric& fabric;
    collective::Collectives& collectives;
    int rank() const { return fabric.rank(); }
    int size() const { return fabric.size(); }
};

struct JobOptions {
    int ranks = 2;
    bool crowded = false;
    WaitPolicy wait = WaitPolicy::adaptive;
    std::size_t arena_bytes = std::size_t{256} << 20;
    std::size_t nontemporal_bytes = std::size_t{8} << 20;
    bool pin = false;
    int threads = 1;
};

/// What read_settings would give rank `rank` of such a job.
Settings settings_of(const JobOptions& options, int rank);
std::shared_ptr<const fabric::shm::Segment> make_segment(const JobOptions& options);

/// Runs `body` once for every rank, each rank a thread of this process, all over one mapping: so ThreadSanitizer sees
/// every access of every rank. Returns when all ranks have left; a failing EXPECT in a rank fails the test.
void run_ranks_as_threads(const JobOptions& options, const std::function<void(Rank&)>& body);

/// The same with each rank a process, as in real life. A rank whose test failed or that died fails the test of the
/// parent.
void run_ranks_as_processes(const JobOptions& options, const std::function<void(Rank&)>& body);

/// For calls that must not leave any rank waiting: like run_ranks_as_processes, but without the barrier at the end, and
/// a rank that has not ended within a few seconds fails the test.
void expect_no_rank_hangs(const JobOptions& options, const std::function<void(Rank&)>& body);

} // namespace kumiki::tests
