#include "bench/remote-memory/movers.hpp"

namespace kumiki::bench {
namespace {

/// put_all(bytes) puts once; the signals around it are the same for all movers that put.
template <class PutAll>
Mover putting(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box, Pair pair,
              PutAll put_all) {
    if (!pair.holds(job.rank())) return {};
    const bool first = job.rank() == pair.first;
    const auto move = [=, &job, &flags = box.batch](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        if (first) {
            for (std::uint64_t i = 0; i < count; ++i) put_all(bytes);
            job.signal(pair.second, flags.announced, batch);
            job.wait(flags.answered, Comparison::at_least, batch);
        } else {
            job.wait(flags.announced, Comparison::at_least, batch);
            job.signal(pair.first, flags.answered, batch);
        }
    };
    if (first) return {own, {}, move};
    return {{}, region, move};
}

} // namespace

Mover put_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box, Pair pair) {
    return putting(job, own, region, box, pair, [&job, own, region, to = pair.second](std::size_t bytes) {
        job.put(to, region.data(), own.first(bytes));
    });
}

Mover word_put_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box) {
    const auto put_words = [&job, own, region](std::size_t bytes) {
        constexpr std::size_t word = sizeof(std::uint64_t);
        for (std::size_t at = 0; at < bytes; at += word) job.put(1, region.data() + at, own.subspan(at, word));
    };
    return putting(job, own, region, box, Pair{}, put_words);
}

Mover get_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region) {
    if (job.rank() == 1) return {region, {}, [](std::size_t, std::uint64_t, std::uint64_t) {}};
    const auto move = [&job, own, region](std::size_t bytes, std::uint64_t count, std::uint64_t) {
        for (std::uint64_t i = 0; i < count; ++i) job.get(1, region.data(), own.first(bytes));
    };
    return {{}, own, move};
}

} // namespace kumiki::bench
