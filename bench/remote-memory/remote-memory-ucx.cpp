// remote-memory-ucx: UCX's put between two ranks of one host, measured by the same loops as Kumiki's.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/options.hpp"
#include "bench/remote-memory/polled_words.hpp"
#include "bench/remote-memory/ucx_link.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

/// A put of 8 bytes that the target polls.
std::function<bool(std::uint64_t)> put_ping_pong(UcxLink& link) {
    return [&link, batch = std::size_t{0}, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        const std::size_t turn_at = PolledWords::turn(batch++);
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            if (link.rank() == 0) link.put_word(turn_at, turn);
            link.await_word(turn_at, turn);
            if (link.rank() == 1) link.put_word(turn_at, turn);
        }
        return true;
    };
}

Mover put_mover(UcxLink& link, std::span<std::byte> own) {
    const auto move = [&link, own](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        if (link.rank() == 0) {
            for (std::uint64_t i = 0; i < count; ++i) link.put(PolledWords::bytes, own.data(), bytes);
            link.flush();
            link.put_word(PolledWords::announced, batch);
            link.await_word(PolledWords::answered, batch);
        } else {
            link.await_word(PolledWords::announced, batch);
            link.put_word(PolledWords::answered, batch);
            link.flush();
        }
    };
    if (link.rank() == 0) return {own, {}, move};
    return {{}, link.own().subspan(PolledWords::bytes), move};
}

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
