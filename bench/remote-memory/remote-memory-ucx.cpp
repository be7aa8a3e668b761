// remote-memory-ucx: UCX's put between two ranks of one host, measured by the same loops as Kumiki's.
#include <algorithm>

#include "bench/common/job_world.hpp"
#include "bench/remote-memory/sizes.hpp"
#include "bench/remote-memory/ucx_exchanges.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    need_two_ranks(job);
    JobWorld world(job);
    UcxLink link(job, PolledWords::bytes + options.largest);
    const Buffer own(options.largest);
    Batches batches;
    const Row latency = with(latency_row("put.latency", KUMIKI_PEER_NAME), "placement", "adjacent");
    const SizedMover put{[](std::size_t bytes) { return bandwidth_row("put.bandwidth", KUMIKI_PEER_NAME, bytes); },
                         put_mover(link, own.span())};
    int code = contest(world, {rounds(world, latency, put_ping_pong(link), 2)}, options.budget);
    code = std::max(code, sweep_sizes(world, options, {put}, batches));
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
