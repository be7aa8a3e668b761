// remote-memory-<mpi>: the peers of remote-memory, measured by the same loops over the same sizes.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/mpi_world.hpp"
#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/mpi_exchanges.hpp"
#include "bench/remote-memory/options.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

double median(std::vector<double> samples) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
}

class RemoteMemory {
public:
    RemoteMemory(MpiWorld& world, const RemoteMemoryOptions& options)
        : world_(world),
          options_(options),
          own_(options.largest),
          windows_{MpiWindow(kinds[0], PolledWords::bytes + options.largest),
                   MpiWindow(kinds[1], PolledWords::bytes + options.largest)} {}

    int measure() {
        std::vector<Contestant> contestants;
        for (const MpiWindow& window : windows_)
            contestants.push_back(rounds(world_,
                                         with(latency_row("put.latency", KUMIKI_PEER_NAME), "placement", "adjacent"),
                                         put_ping_pong(world_.rank(), window), 2));
        contestants.push_back(
            rounds(world_, latency_row("send.latency", KUMIKI_PEER_NAME), send_ping_pong(world_.rank()), 2));
        int code = finish(std::move(contestants));
        for (const std::size_t bytes : options_.sizes()) code = std::max(code, finish(movers(bytes)));
        return code;
    }

private:
    static constexpr std::array kinds{WindowKind::allocate, WindowKind::allocate_shared};

    std::vector<Contestant> movers(std::size_t bytes) {
        std::vector<Contestant> contestants;
        const auto add = [&](const char* metric, const Mover& mover) {
            const std::uint64_t count = batch_of(world_, mover, bytes, batches_);
            contestants.push_back(
                bandwidth(world_, bandwidth_row(metric, KUMIKI_PEER_NAME, bytes), mover, bytes, count, batches_));
        };
        for (const MpiWindow& window : windows_) add("put.bandwidth", put_mover(world_.rank(), own_.span(), window));
        add("send.bandwidth", send_mover(world_.rank(), own_.span()));
        return contestants;
    }

    /// Measures. Of the first two contestants, the two kinds of window, only the row of the better one is kept: a peer
    /// is represented by its best.
    int finish(std::vector<Contestant> contestants) {
        take_turns<MpiWorld>(world_, contestants, options_.budget);
        for (std::size_t i = 0; i < kinds.size(); ++i)
            contestants[i].row.note = std::string("window made by ") + name(kinds[i]);
        const bool lower = contestants[0].row.better == measure::Better::lower;
        const bool first_is_less = median(contestants[0].row.samples) < median(contestants[1].row.samples);
        const bool keep_first = world_.broadcast(first_is_less == lower) != 0;
        contestants.erase(contestants.begin() + (keep_first ? 1 : 0));
        return report<MpiWorld>(world_, contestants);
    }

    MpiWorld& world_;
    RemoteMemoryOptions options_;
    Buffer own_;
    std::array<MpiWindow, 2> windows_;
    Batches batches_;
};

int measure_all(MpiWorld& world, const RemoteMemoryOptions& options) {
    need_two_ranks(world);
    return RemoteMemory(world, options).measure();
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    bench::MpiWorld world(&argc, &argv);
    return measure::guarded("remote-memory-" KUMIKI_PEER_NAME, [&] { return bench::measure_all(world, options); });
}
