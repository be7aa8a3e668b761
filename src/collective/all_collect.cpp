// An all-gather of pieces whose lengths only their owners know: what is short travels with the announcement.
#include <algorithm>
#include <cstring>

#include "collective/collectives.hpp"

namespace kumiki::collective {

using fabric::Network;

namespace {

/// What the leaders send each other about a host. The beginnings of its ranks' pieces follow, in the order of its
/// ranks, and before each its length.
struct HostHead {
    CollectiveCall call;
    std::uint64_t agreed;    ///< 1: all ranks of the host made the same call
    CollectiveCall odd_call; ///< otherwise a call that differs from the leader's
    std::int32_t odd;        ///< and the rank that made it
    std::uint32_t bytes;     ///< what follows
};

template <class Value>
Value read(const std::byte* from) {
    Value value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class Value>
void append(std::vector<std::byte>& bytes, const Value& value) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
}

std::size_t beginning(std::uint64_t length) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(length, Collectives::collected_at_once));
}

/// The length of so many hosts' parts.
std::size_t parts_length(const std::byte* parts, int hosts) {
    std::size_t length = 0;
    for (; hosts > 0; --hosts) length += sizeof(HostHead) + read<HostHead>(parts + length).bytes;
    return length;
}

/// Whether these are so many parts of hosts with so many ranks each, from host `first` on.
bool are_parts(std::span<const std::byte> parts, std::span<const int> ranks, int first, int hosts) {
    for (int step = 0; step < hosts; ++step) {
        if (parts.size() < sizeof(HostHead)) return false;
        const std::size_t bytes = read<HostHead>(parts.data()).bytes;
        parts = parts.subspan(sizeof(HostHead));
        if (parts.size() < bytes) return false;
        std::span<const std::byte> part = parts.first(bytes);
        parts = parts.subspan(bytes);
        for (int rank = ranks[static_cast<std::size_t>(first + step) % ranks.size()]; rank > 0; --rank) {
            if (part.size() < sizeof(std::uint64_t)) return false;
            const std::size_t length = beginning(read<std::uint64_t>(part.data()));
            part = part.subspan(sizeof(std::uint64_t));
            if (part.size() < length) return false;
            part = part.subspan(length);
        }
        if (!part.empty()) return false;
    }
    return parts.empty();
}

} // namespace

Result<> Collectives::all_collect(std::span<const std::byte> own, Collected& all) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::all_collect), 0, 0};
    calls_.begin(CallLog::Place::exchange);
    turn_ ^= 1;
    const auto first = own.first(beginning(own.size()));
    Board& mine = group_.own().board;
    mine.notice[turn_].call = call;
    mine.notice[turn_].offset = own.size();
    if (!first.empty()) std::memcpy(mine.data[turn_].data(), first.data(), first.size());
    const Result<> here = compare(call);
    all.lengths_.assign(static_cast<std::size_t>(group_.size()), 0);
    all.begins_.assign(static_cast<std::size_t>(group_.size()), 0);
    all.bytes_.clear();
    if (one_host()) {
        if (!here) return here;
        for (int rank = 0; rank < group_.size(); ++rank)
            all.add(rank, notice(rank).offset, published(rank), beginning(notice(rank).offset));
    } else if (auto met = collect_over_hosts(call, here, all); !met) {
        return met;
    }
    return collect_rest(own, all);
}

/// What did not travel with the announcement: now everybody knows the lengths.
Result<> Collectives::collect_rest(std::span<const std::byte> own, Collected& all) {
    if (std::ranges::all_of(all.lengths_, [](std::uint64_t length) { return length <= collected_at_once; })) return {};
    std::vector<std::size_t> begins(all.lengths_.size() + 1);
    std::vector<std::byte> whole;
    for (std::size_t rank = 0; rank < all.lengths_.size(); ++rank) begins[rank + 1] = begins[rank] + all.lengths_[rank];
    whole.resize(begins.back());
    for (std::size_t rank = 0; rank < all.lengths_.size(); ++rank)
        std::copy_n(all.bytes_.begin() + static_cast<std::ptrdiff_t>(all.begins_[rank]), beginning(all.lengths_[rank]),
                    whole.begin() + static_cast<std::ptrdiff_t>(begins[rank]));
    const auto rest = [&](int rank) {
        const std::uint64_t length = all.lengths_[static_cast<std::size_t>(rank)];
        return static_cast<std::size_t>(length) - beginning(length);
    };
    Pieces pieces;
    pieces.bytes = rest;
    pieces.offset = [&](int rank) {
        return begins[static_cast<std::size_t>(rank) + 1] - rest(rank); // behind the beginning
    };
    if (auto met = all_gather_inside(Kind::all_gather, own.subspan(beginning(own.size())), whole.data(), pieces); !met)
        return met;
    all.bytes_ = std::move(whole);
    begins.pop_back();
    all.begins_ = std::move(begins);
    return {};
}

/// One meeting of the hosts, as in over_hosts(), and with several ranks on a host one more of these.
Result<> Collectives::collect_over_hosts(const CollectiveCall& call, const Result<>& here, Collected& all) {
    // Other ranks may have detected a difference before this one has even begun the collective.
    if (calls_.broken()) return here ? tl::unexpected(calls_.difference()) : here;
    ++tag_;
    auto& result = group_.host().result;
    std::vector<std::byte> parts;
    if (group_.leads()) {
        parts = gather_parts(host_part(call, here));
        if (parts.empty()) return tl::unexpected(calls_.difference());
        result.differing = -1;
        const std::byte* part = parts.data();
        for (int host = 0; host < group_.hosts() && result.differing < 0; part += parts_length(part, 1), ++host) {
            const auto head = read<HostHead>(part);
            if (head.call == call && head.agreed != 0) continue;
            const bool is_leader = head.call != call;
            result.differing = is_leader ? group_.leader(host) : head.odd;
            result.theirs = is_leader ? head.call : head.odd_call;
        }
        const std::uint64_t length = parts.size();
        std::memcpy(result.payload.data(), &length, sizeof length);
    }
    // The leader does not write the next result before all ranks of the host are in the next collective.
    if (!barrier_.meet_host()) return tl::unexpected(calls_.difference());
    if (!here) return here;
    if (result.differing >= 0) return tl::unexpected(difference(result.differing, result.theirs, call));
    parts.resize(read<std::uint64_t>(result.payload.data()));
    if (group_.host_size() > 1) spread(parts, 0);
    const std::byte* next = parts.data();
    for (int host = 0; host < group_.hosts(); ++host) {
        next += sizeof(HostHead);
        for (int rank = 0; rank < group_.size(); ++rank) {
            if (group_.host_of(rank) != host) continue;
            const auto length = read<std::uint64_t>(next);
            next += sizeof length;
            all.add(rank, length, next, beginning(length));
            next += beginning(length);
        }
    }
    return {};
}

/// At the leader: what all ranks of this host have published.
std::vector<std::byte> Collectives::host_part(const CollectiveCall& call, const Result<>& here) const {
    std::vector<std::byte> part;
    append(part, HostHead{call, here ? 1u : 0u, odd_.call, odd_.rank, 0});
    for (int local = 0; local < group_.host_size(); ++local) {
        const std::uint64_t length = here ? notice(local).offset : 0;
        append(part, length);
        part.insert(part.end(), published(local), published(local) + beginning(length));
    }
    const auto bytes = static_cast<std::uint32_t>(part.size() - sizeof(HostHead));
    std::memcpy(part.data() + offsetof(HostHead, bytes), &bytes, sizeof bytes);
    return part;
}

/// Like gather_hosts(), but the parts differ in length.
std::vector<std::byte> Collectives::gather_parts(std::vector<std::byte> own) {
    Network& network = *fabric_.network();
    const int count = group_.hosts(), me = group_.own_host();
    std::vector<int> ranks(static_cast<std::size_t>(count)); // by host
    for (int rank = 0; rank < group_.size(); ++rank) ++ranks[static_cast<std::size_t>(group_.host_of(rank))];
    const std::size_t longest = sizeof(HostHead) + static_cast<std::size_t>(std::ranges::max(ranks)) *
                                                       (sizeof(std::uint64_t) + collected_at_once);
    const CollectiveCall call = read<HostHead>(own.data()).call;
    std::vector<std::byte> parts = std::move(own); // from this host on
    const auto into = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>((count + 1) / 2) * longest);
    for (int have = 1; have < count; have *= 2) {
        const int more = std::min(have, count - have);
        const int below = group_.leader((me - have + count) % count), above = group_.leader((me + have) % count);
        static_cast<void>(
            network.send_in_collective(group_, below, tag_, std::span(parts).first(parts_length(parts.data(), more))));
        const auto& message =
            network.expect_in_collective(group_, above, tag_, {into.get(), static_cast<std::size_t>(more) * longest});
        const bool come = calls_.wait([&message] { return message.whole.load(std::memory_order_acquire); });
        const std::size_t length = network.take_in_collective(group_, above, tag_);
        if (!come) return {};
        const std::span received(into.get(), std::min(length, static_cast<std::size_t>(more) * longest));
        if (are_parts(received, ranks, me + have, more)) {
            parts.insert(parts.end(), received.begin(), received.end());
            continue;
        }
        // The other host is in another collective, all of which begin with the call.
        HostHead head{};
        std::memcpy(&head, received.data(), std::min(received.size(), sizeof head));
        if (head.call == call) head.odd_call = {}, head.odd = above;
        head.agreed = head.bytes = 0;
        for (int host = 0; host < more; ++host) append(parts, head);
    }
    const std::size_t until_first = parts_length(parts.data(), (count - me) % count);
    std::rotate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(until_first), parts.end());
    return parts;
}

} // namespace kumiki::collective
