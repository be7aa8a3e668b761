// network-ucx: UCX's put and its tagged messages between ranks of two hosts, measured by the same loops as Kumiki's.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/network/rows.hpp"
#include "bench/remote-memory/options.hpp"
#include "bench/remote-memory/ucx_exchanges.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    JobWorld world(job);
    if (job.size() != 2 || world.hosts() != 2)
        throw Error(KUMIKI_ERROR_ENVIRONMENT, "it needs 2 ranks on 2 hosts, and this job has " +
                                                  std::to_string(job.size()) + " on " + std::to_string(world.hosts()) +
                                                  "; start it with kumiki-run --hosts a,b");
    UcxLink link(job, PolledWords::bytes + options.largest, UcxLink::Reach::network);
    const Buffer own(options.largest);
    std::vector<Contestant> contestants;
    contestants.push_back(rounds(world, network_latency("ucx", "put"), put_ping_pong(link), 2));
    contestants.push_back(rounds(world, network_latency("ucx", "send"), tag_ping_pong(link), 2));
    take_turns<JobWorld>(world, contestants, options.budget);
    int code = report<JobWorld>(world, contestants);

    const Mover put = put_mover(link, own.span()), send = tag_mover(link, own.span());
    Batches batches;
    for (const std::size_t bytes : options.sizes()) {
        if (too_long(world, send, bytes, batches)) break;
        const auto sized = [&](const char* operation, const Mover& mover) {
            const std::uint64_t count = network_batch(world, mover, bytes, batches);
            return bandwidth(world, network_bandwidth("ucx", operation, bytes), mover, bytes, count, batches);
        };
        contestants = {sized("put", put), sized("send", send)};
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
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv, bench::smallest_transfer);
    return measure::guarded("network-ucx", [&] { return bench::measure_all(options); });
}
