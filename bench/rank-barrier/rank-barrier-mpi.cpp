// rank-barrier-<mpi>: the peers of rank-barrier, measured by the same loops.
#include <mpi.h>

#include <vector>

#include "bench/common/mpi_world.hpp"
#include "bench/rank-barrier/barrier_loops.hpp"
#include "bench/rank-barrier/options.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(MpiWorld& world, const RankBarrierOptions& options) {
    const Computation computation(world, options.computation);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto enter = [&request] { MPI_Ibarrier(MPI_COMM_WORLD, &request); };
    const auto wait = [&request] { MPI_Wait(&request, MPI_STATUS_IGNORE); };

    std::vector<Contestant> contestants;
    contestants.push_back(plain(world, KUMIKI_PEER_NAME, "plain", [] { MPI_Barrier(MPI_COMM_WORLD); }));
    contestants.push_back(split_phase(world, KUMIKI_PEER_NAME, computation, enter, wait));
    take_turns<MpiWorld>(world, contestants, options.budget);
    contestants[1].row.note = options.note();
    contestants.push_back(hidden(contestants[0], contestants[1]));
    return report<MpiWorld>(world, contestants);
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RankBarrierOptions::parse(argc, argv);
    bench::MpiWorld world(&argc, &argv);
    return measure::guarded("rank-barrier-" KUMIKI_PEER_NAME, [&] { return bench::measure_all(world, options); });
}
