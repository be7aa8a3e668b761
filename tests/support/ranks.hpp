#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

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
    int hosts = 1; ///< the ranks are distributed over so many in blocks, and reach each other over the loopback network
    bool crowded = false;
    WaitPolicy wait = WaitPolicy::adaptive;
    std::size_t arena_bytes = std::size_t{256} << 20;
    std::size_t nontemporal_bytes = std::size_t{8} << 20;
    bool pin = false;
    int threads = 1;
    int timeout_s = 10;
    std::string trace = {}; ///< a file; empty: none
};

/// The settings that read_settings would return for rank `rank` of such a job.
Settings settings_of(const JobOptions& options, int rank);
std::shared_ptr<const fabric::shm::Segment> make_segment(const JobOptions& options);

/// The hosts of a job whose ranks are threads of this process: each is a separate memory.
class Machines {
public:
    explicit Machines(const JobOptions& options);
    std::unique_ptr<fabric::Fabric> join(int rank);

private:
    /// The place of a rank in the job.
    struct Place {
        int host, local, locals;
    };
    Place place(int rank) const;
    fabric::Wireup wireup(int rank);

    JobOptions options_;
    std::vector<std::shared_ptr<const fabric::shm::Segment>> segments_;
    std::mutex mutex_;
    std::condition_variable all_have_come_;
    std::vector<std::vector<std::byte>> cards_;
    int came_ = 0;
};

/// Runs `body` once for every rank, each rank a thread of this process, all over one mapping, so that ThreadSanitizer
/// sees every access of every rank. Returns when all ranks have left; a failing EXPECT in a rank fails the test.
void run_ranks_as_threads(const JobOptions& options, const std::function<void(Rank&)>& body);

/// The same for a job whose ranks do not synchronise at the end, because they no longer can.
void run_ranks_to_failure(const JobOptions& options, const std::function<void(Rank&)>& body);

/// The same with each rank a process, as in reality. If the test fails in a rank, or a rank dies, the parent's test
/// fails.
void run_ranks_as_processes(const JobOptions& options, const std::function<void(Rank&)>& body);

/// For calls that must not leave any rank waiting: like run_ranks_as_processes, but without the barrier at the end; a
/// rank that has not ended within a few seconds fails the test.
void expect_no_rank_hangs(const JobOptions& options, const std::function<void(Rank&)>& body);

} // namespace kumiki::tests
