#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"

namespace kumiki::collective {

using fabric::Network;
using fabric::shm::Contribution;

Result<> Collectives::all_gather(const void* input, std::size_t bytes, void* output, const Pieces& received) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    if ((input == nullptr && bytes > 0) || (output == nullptr && moves_something(received)))
        return refuse_inside(fail(KUMIKI_ERROR_ARGUMENT, "all_gather: the address of the input or output is null"));
    if (received.bytes(group_.rank()) != bytes)
        return refuse_inside(fail(KUMIKI_ERROR_ARGUMENT,
                                  fmt::format("all_gather: {} sends {} bytes and expects {} of itself",
                                              group_.describe(group_.rank()), bytes, received.bytes(group_.rank()))));
    return all_gather_inside(Kind::all_gather, {static_cast<const std::byte*>(input), bytes},
                             static_cast<std::byte*>(output), received);
}

Result<> Collectives::all_gather_inside(Kind kind, std::span<const std::byte> own, std::byte* into,
                                        const Pieces& received) {
    bool short_ones = one_host() && has_lines();
    for (int rank = 0; rank < group_.size(); ++rank)
        short_ones = short_ones && received.bytes(rank) <= Contribution::capacity;
    // All ranks must have the same table.
    const CollectiveCall call{static_cast<std::uint32_t>(kind), table_of(received), bytes_of_all(received)};
    if (short_ones) return all_gather_short(call, own, into, received);
    if (auto same = announce(call, {}); !same) return same;
    const auto number = [this](int local) { return group_.number_on_host(local); };
    collect(
        own, [&](int local) { return received.bytes(number(local)); },
        [&](int local) { return into + received.offset(number(local)); });
    if (!one_host()) all_gather_hosts(into, received);
    return {};
}

/// Short values travel with the announcement.
Result<> Collectives::all_gather_short(const CollectiveCall& call, std::span<const std::byte> own, std::byte* into,
                                       const Pieces& received) {
    calls_.begin(CallLog::Place::exchange);
    turn_ ^= 1; // every collective does this, so ranks that differ by mistake stay in step
    std::array<std::byte, Contribution::capacity * fabric::shm::most_contributors> all;
    std::byte* next = all.data();
    auto same = exchange(call, own, [&](int local, const std::byte* payload) {
        if (const std::size_t bytes = received.bytes(local); bytes > 0) std::memcpy(next, payload, bytes);
        next += received.bytes(local);
    });
    if (!same) return same;
    next = all.data();
    for (int rank = 0; rank < group_.size(); next += received.bytes(rank), ++rank)
        if (received.bytes(rank) > 0) std::memcpy(into + received.offset(rank), next, received.bytes(rank));
    return {};
}

/// Each leader sends the data of its host to all other leaders, and passes on to its host what it receives.
void Collectives::all_gather_hosts(std::byte* into, const Pieces& received) {
    Network& network = *fabric_.network();
    std::vector<std::byte> away; // the data of the other hosts, in their order
    std::vector<std::size_t> begin(static_cast<std::size_t>(group_.hosts()) + 1);
    for (int host = 0; host < group_.hosts(); ++host) {
        const std::size_t bytes = host == group_.own_host() ? 0 : bytes_of_host(host, received);
        begin[static_cast<std::size_t>(host) + 1] = begin[static_cast<std::size_t>(host)] + bytes;
    }
    away.resize(begin.back());
    const auto part = [&](int host) {
        const auto at = static_cast<std::size_t>(host);
        return std::span(away).subspan(begin[at], begin[at + 1] - begin[at]);
    };
    ++tag_;
    if (group_.leads()) {
        const auto here = pack_for_host(group_.own_host(), into, received);
        const int count = group_.hosts(), me = group_.own_host();
        for (int step = 1; step < count; ++step)
            static_cast<void>(network.send_in_collective(group_, group_.leader((me + step) % count), tag_, here));
        for (int step = 1; step < count; ++step) {
            const int host = (me + step) % count;
            network.receive_in_collective(group_, group_.leader(host), tag_, part(host));
        }
    }
    spread(away, 0);
    for (int host = 0; host < group_.hosts(); ++host)
        if (host != group_.own_host()) unpack_from_host(host, part(host), into, received);
}

} // namespace kumiki::collective
