// remote-memory-ucx: UCX's put between two ranks of one host, measured by the same loops as Kumiki's.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/options.hpp"
#include "bench/remote-memory/ucx_exchanges.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    if (job.size() != 2)
        throw Error(KUMIKI_ERROR_ENVIRONMENT,
                    "this job has " + std::to_string(job.size()) + " ranks and needs 2; start it with kumiki-run -n 2");
    JobWorld world(job);
    UcxLink link(job, PolledWords::bytes + options.largest);
    const Buffer own(options.largest);
    const Mover mover = put_mover(link, own.span());
    Batches batches;

    const Row row = with(latency_row("put.latency", "ucx"), "placement", "adjacent");
    std::vector<Contestant> latency{rounds(world, row, put_ping_pong(link), 2)};
    take_turns<JobWorld>(world, latency, options.budget);
    int code = report<JobWorld>(world, latency);
    for (const std::size_t bytes : options.sizes()) {
        const std::uint64_t count = batch_of(world, mover, bytes, batches);
        const Row sized = bandwidth_row("put.bandwidth", "ucx", bytes);
        std::vector<Contestant> contestants{bandwidth(world, sized, mover, bytes, count, batches)};
        take_turns<JobWorld>(world, contestants, options.budget);
        code = std::max(code, report<JobWorld>(world, contestants));
    }
    world.barrier();
    return code;
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    return measure::guarded("remote-memory-ucx", [&] { return bench::measure_all(options); });
}
