// network-ucx: UCX's put and its tagged messages between ranks of two hosts, measured by the same loops as Kumiki's.
#include "bench/common/job_world.hpp"
#include "bench/network/peer.hpp"
#include "bench/remote-memory/ucx_exchanges.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    JobWorld world(job);
    need_two_hosts(world);
    UcxLink link(job, PolledWords::bytes + options.largest, UcxLink::Reach::network);
    const Buffer own(options.largest);
    const int code = measure_peer(world,
                                  {.implementation = KUMIKI_PEER_NAME,
                                   .put_ping_pong = put_ping_pong(link),
                                   .send_ping_pong = tag_ping_pong(link),
                                   .put = put_mover(link, own.span()),
                                   .send = tag_mover(link, own.span())},
                                  options);
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
