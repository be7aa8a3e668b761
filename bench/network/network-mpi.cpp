// network-<mpi>: the peers of network, measured by the same loops over the same sizes.
#include "bench/common/mpi_world.hpp"
#include "bench/network/peer.hpp"
#include "bench/remote-memory/mpi_exchanges.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(MpiWorld& world, const RemoteMemoryOptions& options) {
    need_two_hosts(world);
    const Buffer own(options.largest);
    const MpiWindow window(WindowKind::allocate, PolledWords::bytes + options.largest);
    return measure_peer(world,
                        {.implementation = KUMIKI_PEER_NAME,
                         .put_ping_pong = put_ping_pong(world.rank(), window),
                         .send_ping_pong = send_ping_pong(world.rank()),
                         .put = put_mover(world.rank(), own.span(), window),
                         .send = send_mover(world.rank(), own.span())},
                        options);
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv, bench::smallest_transfer);
    bench::MpiWorld world(&argc, &argv);
    return measure::guarded("network-" KUMIKI_PEER_NAME, [&] { return bench::measure_all(world, options); });
}
