// network-<mpi>: the peers of network, measured by the same loops over the same sizes.
#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/mpi_world.hpp"
#include "bench/network/rows.hpp"
#include "bench/remote-memory/mpi_exchanges.hpp"
#include "bench/remote-memory/options.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(MpiWorld& world, const RemoteMemoryOptions& options) {
    if (world.size() != 2 || world.hosts() != 2)
        throw std::runtime_error("it needs 2 ranks on 2 hosts, and this run has " + std::to_string(world.size()) +
                                 " on " + std::to_string(world.hosts()));
    const Buffer own(options.largest);
    const MpiWindow window(WindowKind::allocate, PolledWords::bytes + options.largest);
    std::vector<Contestant> contestants;
    contestants.push_back(
        rounds(world, network_latency(KUMIKI_MPI_NAME, "put"), put_ping_pong(world.rank(), window), 2));
    contestants.push_back(rounds(world, network_latency(KUMIKI_MPI_NAME, "send"), send_ping_pong(world.rank()), 2));
    take_turns<MpiWorld>(world, contestants, options.budget);
    int code = report<MpiWorld>(world, contestants);

    const Mover put = put_mover(world.rank(), own.span(), window), send = send_mover(world.rank(), own.span());
    Batches batches;
    for (const std::size_t bytes : options.sizes()) {
        if (too_long(world, send, bytes, batches)) break;
        const auto sized = [&](const char* operation, const Mover& mover) {
            const std::uint64_t count = network_batch(world, mover, bytes, batches);
            const Row row = network_bandwidth(KUMIKI_MPI_NAME, operation, bytes);
            return bandwidth(world, row, mover, bytes, count, batches);
        };
        contestants = {sized("put", put), sized("send", send)};
        take_turns<MpiWorld>(world, contestants, options.budget);
        code = std::max(code, report<MpiWorld>(world, contestants));
    }
    return code;
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv, bench::smallest_transfer);
    bench::MpiWorld world(&argc, &argv);
    return measure::guarded("network-" KUMIKI_MPI_NAME, [&] { return bench::measure_all(world, options); });
}
