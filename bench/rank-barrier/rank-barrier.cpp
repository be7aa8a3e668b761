// rank-barrier: the time that the ranks of a job need to wait for each other (COMPaS paper, Table 3).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>
#include <vector>

#include "bench/common/bare_barrier.hpp"
#include "bench/common/job_world.hpp"
#include "bench/rank-barrier/barrier_loops.hpp"
#include "bench/rank-barrier/options.hpp"
#include "bench/rank-barrier/shuffle_exchange.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

/// Bare flags between ranks of one host, accessed by their direct addresses.
BareBarrier bare_barrier(Job& job, Region<Flag>& flags) {
    std::vector<BareBarrier::Step> way;
    for (std::size_t step = 0; (std::size_t{1} << step) < static_cast<std::size_t>(job.size()); ++step) {
        const int other = (job.rank() + (1 << step)) % job.size();
        way.push_back({&flags.at(other)[step].word, &flags[step].word});
    }
    return BareBarrier(std::move(way));
}

/// Bare flags never yield: with many more ranks than cores, one such barrier would take seconds without telling
/// anything new.
constexpr int bare_ranks_per_core = 2;

int measure_all(const RankBarrierOptions& options) {
    Job job;
    JobWorld world(job);
    ShuffleExchange exchange(job);
    auto flags = job.allocate<Flag>(64);
    const Computation computation(world, options.computation);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));

    std::vector<Contestant> contestants;
    contestants.push_back(plain(world, "kumiki", "plain", [&job] { job.barrier(); }));
    contestants.push_back(
        split_phase(world, "kumiki", computation, [&job] { job.barrier_enter(); }, [&job] { job.barrier_wait(); }));
    contestants.push_back(plain(world, "kumiki", "shuffle-exchange", [&exchange] { exchange.barrier(); }));
    if (world.hosts() == 1 && job.size() <= bare_ranks_per_core * cores)
        contestants.push_back(
            plain(world, "bound", "plain", [bare = bare_barrier(job, flags)]() mutable { bare.wait(); }));
    take_turns<JobWorld>(world, contestants, options.budget);
    contestants[1].row.note = options.note();
    contestants.push_back(hidden(contestants[0], contestants[1]));
    return report<JobWorld>(world, contestants);
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RankBarrierOptions::parse(argc, argv);
    return measure::guarded("rank-barrier", [&] { return bench::measure_all(options); });
}
