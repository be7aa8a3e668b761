#include "bench/remote-memory/one_way.hpp"

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {

Contestant get_latency(JobWorld& world, Job& job, Region<Link>& links) {
    const auto fetch = [&job, &links](std::uint64_t at) { return job.get(1, links[at].word); };
    return walk(world, latency_row("get.latency", "kumiki"), links.span(), fetch, false);
}

Contestant fetch_add_latency(JobWorld& world, Job& job, Region<Link>& links) {
    const auto fetch = [&job, &links](std::uint64_t at) { return job.fetch_add(1, links[at].word, Chain::visited); };
    return walk(world, with(latency_row("atomic.latency", "kumiki"), "contention", "none"), links.span(), fetch, true);
}

Contestant contended_fetch_add_latency(JobWorld& world, Job& job, std::span<Mailbox> boxes) {
    constexpr std::uint64_t count = 20'000;
    Row row = with(latency_row("atomic.latency", "kumiki"), "contention", "both");
    return {std::move(row), [&world, &job, boxes, batch = std::size_t{0}]() mutable {
                std::uint64_t& counter = boxes[batch % boxes.size()].counter;
                const std::size_t visits = ++batch / boxes.size() + (batch % boxes.size() != 0);
                world.barrier();
                for (std::uint64_t i = 0; i < warm_up_of(count); ++i) job.fetch_add(1, counter, 1);
                const auto start = Clock::now();
                for (std::uint64_t i = 0; i < count; ++i) job.fetch_add(1, counter, 1);
                const double seconds = seconds_since(start);
                world.barrier();
                const bool right = job.get(1, counter) == visits * 2 * (count + warm_up_of(count));
                return Sample{seconds / count * 1e6, right};
            }};
}

Contestant bare_load_latency(JobWorld& world, Region<Link>& links) {
    const std::span<Link> there = links.at(1);
    const auto fetch = [there](std::uint64_t at) { return Word(there[at].word).load(std::memory_order_relaxed); };
    return walk(world, latency_row("bound.remote_load", "bound"), links.span(), fetch, false);
}

} // namespace kumiki::bench
