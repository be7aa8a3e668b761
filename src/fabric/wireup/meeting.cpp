#include "fabric/wireup/meeting.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "fabric/shm/segment.hpp"
#include "fabric/wireup/host_map.hpp"

namespace kumiki::fabric {
namespace {

using shm::Segment;

/// Sent instead of a descriptor's number by a rank that has failed to create the memory, and followed by the reason.
constexpr std::string_view no_place = "none: ";

Result<HostMap> introduce(Exchange& exchange, const Settings& settings) {
    const auto told = exchange.all(Introduction::of_this_process(settings, exchange.rank()).pack());
    if (!told) return tl::unexpected(told.error());
    std::vector<Introduction> all;
    for (const std::string& text : *told) {
        auto other = Introduction::unpack(text);
        if (!other) return tl::unexpected(other.error());
        all.push_back(std::move(*other));
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (const auto counts = all[rank].thread_counts; counts != 1 && counts != all.size())
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        fmt::format("KUMIKI_THREADS of rank {} has {} numbers, but the job has {} ranks; give one "
                                    "number for all ranks, or one for each",
                                    rank, counts, all.size()));
    return HostMap(std::move(all), exchange.rank());
}

/// An arena has the same size on all hosts: the smallest that any rank asks for or has memory for, limited by the
/// address space of the host with the most ranks.
Result<Segment> create(const HostMap& map) {
    const auto [bytes, is_wish] = map.least_arena();
    if (is_wish) return Segment::create(map.local_size(), bytes);
    const auto fullest = Segment::create(map.largest_local_size(), 0);
    if (!fullest) return tl::unexpected(fullest.error());
    return Segment::create(map.local_size(), std::min(bytes, fullest->arena_bytes()));
}

/// Creates the memory of this host and tells its other ranks where it is.
Result<Segment> make(Exchange& exchange, const HostMap& map) {
    auto made = create(map);
    const auto place = made ? std::to_string(made->descriptor()) : fmt::format("{}{}", no_place, made.error().message);
    if (auto told = exchange.tell(place); !told) return tl::unexpected(told.error());
    return made;
}

/// Maps the memory that the first rank of this host has created.
Result<Segment> find(Exchange& exchange, const HostMap& map) {
    if (auto told = exchange.tell(""); !told) return tl::unexpected(told.error());
    const int leader = map.leader();
    const auto place = exchange.told_by(leader);
    if (!place) return tl::unexpected(place.error());
    if (place->starts_with(no_place))
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("rank {} cannot make the memory of this host: {}", leader,
                                                          place->substr(no_place.size())));
    const auto path = fmt::format("/proc/{}/fd/{}", map.at(leader).process, *place);
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot open the memory that rank {} shares with this host ({}: {}); the ranks of a "
                                "host must run as the same user, see the same /proc, and may trace each other (a "
                                "container may forbid it); kumiki-run does without this",
                                leader, path, std::strerror(errno)));
    auto adopted = Segment::adopt(descriptor, map.local_size());
    close(descriptor); // the mapping stays
    return adopted;
}

/// Tells all ranks whether every rank has its memory; fails at all ranks when one has not.
Result<> agree(Exchange& exchange, const Result<Segment>& segment) {
    const auto told = exchange.all(segment ? "" : segment.error().message);
    if (!told) return tl::unexpected(told.error());
    if (!segment) return tl::unexpected(segment.error());
    for (std::size_t rank = 0; rank < told->size(); ++rank)
        if (!(*told)[rank].empty())
            return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("rank {} cannot join: {}", rank, (*told)[rank]));
    return {};
}

Result<std::vector<std::vector<std::byte>>> exchange_cards(Exchange& exchange, const std::vector<std::byte>& card) {
    const auto told = exchange.all({reinterpret_cast<const char*>(card.data()), card.size()});
    if (!told) return tl::unexpected(told.error());
    std::vector<std::vector<std::byte>> cards;
    for (const std::string& bytes : *told) {
        const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
        cards.emplace_back(first, first + bytes.size());
    }
    return cards;
}

} // namespace

Result<OthersJob> meet(Exchange exchange, Settings& settings) {
    const auto map = introduce(exchange, settings);
    if (!map) return tl::unexpected(map.error());
    map->settle(settings);
    auto segment = map->leads() ? make(exchange, *map) : find(exchange, *map);
    if (auto agreed = agree(exchange, segment); !agreed) return tl::unexpected(agreed.error());
    return OthersJob{std::make_shared<const Segment>(std::move(*segment)),
                     [exchange](const std::vector<std::byte>& card) mutable { return exchange_cards(exchange, card); }};
}

} // namespace kumiki::fabric
