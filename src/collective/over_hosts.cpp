// Collectives over several hosts have three steps: the ranks of each host use their shared memory, then the leaders use
// the network, then the ranks of each host use their shared memory again. So the number of messages depends only on the
// number of hosts.
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <vector>

#include "collective/collectives.hpp"
#include "collective/combine.hpp"
#include "kumiki/kumiki.h"

namespace kumiki::collective {

using fabric::Network;
using fabric::shm::Contribution;
using fabric::shm::HostsResult;

namespace {

/// The information that a leader sends to the others about its host.
struct Note {
    CollectiveCall call;
    std::uint64_t agreed;      ///< 1: all ranks of the host made the same call
    CollectiveCall odd_call;   ///< otherwise a call that differs from the leader's
    std::int32_t odd, nothing; ///< and the rank that made it
    std::array<std::byte, Contribution::capacity> payload;
};

} // namespace

Result<> Collectives::over_hosts(const CollectiveCall& call, const Result<>& here, std::span<std::byte> payload,
                                 const Combine& combine) {
    if (one_host()) return here;
    // Other ranks may have detected a difference before this one has even begun the collective.
    if (calls_.broken()) return here ? tl::unexpected(calls_.difference()) : here;
    HostsResult& result = group_.host().result;
    Note own{call, here ? 1u : 0u, odd_.call, odd_.rank, 0, {}};
    if (!payload.empty()) std::memcpy(own.payload.data(), payload.data(), payload.size());
    ++tag_;
    if (group_.leads()) {
        const auto notes = gather_hosts(std::as_bytes(std::span(&own, 1)));
        if (notes.empty()) return tl::unexpected(calls_.difference());
        result.differing = -1;
        for (int host = 0; host < group_.hosts(); ++host) {
            Note note;
            std::memcpy(&note, notes.data() + static_cast<std::size_t>(host) * sizeof note, sizeof note);
            if ((note.call != call || note.agreed == 0) && result.differing < 0) {
                const bool is_leader = note.call != call;
                result.differing = is_leader ? group_.leader(host) : note.odd;
                result.theirs = is_leader ? note.call : note.odd_call;
            }
            if (host == 0) result.payload = note.payload;
            else if (!payload.empty()) combine(result.payload.data(), note.payload.data());
        }
    }
    // The leader does not write the next result before all ranks of the host are in the next collective.
    if (!barrier_.meet_host()) return tl::unexpected(calls_.difference());
    if (!here) return here;
    if (result.differing >= 0) return tl::unexpected(difference(result.differing, result.theirs, call));
    if (!payload.empty()) std::memcpy(payload.data(), result.payload.data(), payload.size());
    return {};
}

/// Takes log2(hosts) steps: in each, a host sends everything it has to the host that distance below it, and then has
/// twice as much.
std::vector<std::byte> Collectives::gather_hosts(std::span<const std::byte> own) {
    Network& network = *fabric_.network();
    const int count = group_.hosts(), me = group_.own_host();
    const std::size_t size = own.size();
    std::vector<std::byte> from_me_on(static_cast<std::size_t>(count) * size);
    std::copy(own.begin(), own.end(), from_me_on.begin());
    for (int have = 1; have < count; have *= 2) {
        const int more = std::min(have, count - have);
        const auto bytes = static_cast<std::size_t>(more) * size;
        const int below = group_.leader((me - have + count) % count), above = group_.leader((me + have) % count);
        static_cast<void>(network.send_in_collective(group_, below, tag_, std::span(from_me_on).first(bytes)));
        const auto& message = network.expect_in_collective(
            group_, above, tag_, std::span(from_me_on).subspan(static_cast<std::size_t>(have) * size, bytes));
        const bool come = calls_.wait([&message] { return message.whole.load(std::memory_order_acquire); });
        network.take_in_collective(group_, above, tag_);
        if (!come) return {};
    }
    std::rotate(from_me_on.begin(), from_me_on.end() - static_cast<std::ptrdiff_t>(static_cast<std::size_t>(me) * size),
                from_me_on.end());
    return from_me_on;
}

/// A binomial tree: a host that has the data sends them to the host that distance above it.
void Collectives::broadcast_hosts(std::span<std::byte> data, int root) {
    Network& network = *fabric_.network();
    const int count = group_.hosts(), me = (group_.own_host() - root + count) % count;
    const auto leader = [&](int relative) { return group_.leader((relative + root) % count); };
    int distance = 1;
    for (; distance <= me; distance *= 2) {}
    if (me > 0) network.receive_in_collective(group_, leader(me - distance / 2), tag_, data);
    for (; me + distance < count; distance *= 2)
        static_cast<void>(network.send_in_collective(group_, leader(me + distance), tag_, data));
}

/// Each host combines its share of the elements, in the order of hosts, and sends it to all others: all hosts send and
/// combine equal amounts, and the bits are the same everywhere.
void Collectives::reduce_hosts(std::span<std::byte> data, kumiki_type type, kumiki_operation operation) {
    Network& network = *fabric_.network();
    const int count = group_.hosts(), me = group_.own_host();
    const std::size_t element = element_bytes(type);
    const auto share = [&](int host) {
        std::size_t begin = 0, end = 0;
        kumiki_part(data.size() / element, count, host, &begin, &end);
        return data.subspan(begin * element, (end - begin) * element);
    };
    const auto to_all_others = [&](auto piece_for) {
        for (int step = 1; step < count; ++step) {
            const int host = (me + step) % count;
            static_cast<void>(network.send_in_collective(group_, group_.leader(host), tag_, piece_for(host)));
        }
    };
    ++tag_;
    to_all_others(share);
    const std::span<std::byte> mine = share(me);
    const std::vector<std::byte> own(mine.begin(), mine.end());
    std::vector<std::byte> theirs(mine.size());
    for (int host = 0; host < count; ++host) {
        if (host != me) network.receive_in_collective(group_, group_.leader(host), tag_, theirs);
        const auto& next = host == me ? own : theirs;
        if (host == 0) std::copy(next.begin(), next.end(), mine.begin());
        else combine(mine.data(), next.data(), mine.size() / element, type, operation);
    }
    ++tag_;
    to_all_others([&](int) { return mine; });
    for (int host = 0; host < count; ++host)
        if (host != me) network.receive_in_collective(group_, group_.leader(host), tag_, share(host));
}

void Collectives::broadcast_inside(std::span<std::byte> data, int root) {
    const bool root_is_here = group_.here(root);
    ++tag_;
    if (root_is_here) spread(data, group_.local_rank(root));
    if (one_host()) return;
    if (group_.leads() && !data.empty()) broadcast_hosts(data, group_.host_of(root));
    if (!root_is_here) spread(data, 0);
}

/// All ranks take part; `output` is null at ranks that do not need the result.
Result<> Collectives::reduce_over_hosts(const void* input, void* output, std::size_t count, kumiki_type type,
                                        kumiki_operation operation) {
    const std::size_t element = element_bytes(type);
    std::vector<std::byte> unwanted(output == nullptr ? count * element : 0);
    const std::span result(output == nullptr ? unwanted.data() : static_cast<std::byte*>(output), count * element);
    const auto* from = static_cast<const std::byte*>(input);
    const bool leads = group_.leads();
    const std::size_t per_chunk = Board::capacity / element;
    for (std::size_t begin = 0; begin < count; begin += per_chunk) {
        const std::size_t length = std::min(per_chunk, count - begin);
        publish({from + begin * element, length * element});
        reduce_chunk(result.data() + begin * element, length, type, operation, leads);
    }
    if (leads) reduce_hosts(result, type, operation);
    else tag_ += 2; // as the leaders do
    spread(result, 0);
    return {};
}

/// Exchanges the pieces for ranks of other hosts. Each step pairs every rank with another one.
Result<> Collectives::all_to_all_over_hosts(const std::byte* input, const Pieces& sent, std::byte* output,
                                            const Pieces& received) {
    Network& network = *fabric_.network();
    const int ranks = group_.size(), me = group_.rank();
    Result<> outcome;
    ++tag_;
    for (int step = 1; step < ranks; ++step) {
        const int to = (me + step) % ranks, from = (me - step + ranks) % ranks;
        if (!group_.here(to))
            if (auto gone = network.send_in_collective(group_, to, tag_, {input + sent.offset(to), sent.bytes(to)});
                !gone)
                outcome = gone;
        if (group_.here(from)) continue;
        const std::size_t length =
            network.receive_in_collective(group_, from, tag_, {output + received.offset(from), received.bytes(from)});
        if (length != received.bytes(from) && outcome)
            outcome = fail(KUMIKI_ERROR_ARGUMENT,
                           fmt::format("all_to_all: rank {} sends {} bytes to rank {}, which expects {}", from, length,
                                       me, received.bytes(from)));
    }
    return outcome;
}

} // namespace kumiki::collective
