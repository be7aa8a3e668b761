#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "fabric/wireup/wireup.hpp"
#include "fabric/wireup/exchange.hpp"
#include "fabric/wireup/neighbours.hpp"
#include "fabric/shm/segment.hpp"

namespace kumiki::fabric {

/// How ranks that another launcher has started become a job. They tell who they are; each host's first rank makes the
/// memory of the host and tells where it is; the others map it; all tell how that went, so that either all ranks go on
/// or all say the same sentence. A fourth round, over several hosts, is the exchange of cards.
class RankMeeting {
public:
    explicit RankMeeting(Exchange exchange) : exchange_(std::move(exchange)) {}

    Result<OthersJob> hold(Settings& settings) {
        auto neighbours = introduce(settings);
        if (!neighbours) return tl::unexpected(neighbours.error());
        neighbours->settle(settings);
        auto segment = neighbours->leads() ? make(*neighbours) : find(*neighbours);
        if (auto agreed = agree(segment); !agreed) return tl::unexpected(agreed.error());
        return OthersJob{std::make_shared<const shm::Segment>(std::move(*segment)),
                         [exchange = exchange_](const std::vector<std::byte>& card) mutable {
                             return exchange_cards(exchange, card);
                         }};
    }

private:
    using Segment = Result<shm::Segment>;

    Result<Neighbours> introduce(const Settings& settings) {
        auto told = exchange_.all(Introduction::of_this_process(settings).pack());
        if (!told) return tl::unexpected(told.error());
        std::vector<Introduction> all;
        for (const std::string& text : *told) {
            auto other = Introduction::unpack(text);
            if (!other) return tl::unexpected(other.error());
            all.push_back(std::move(*other));
        }
        return Neighbours(std::move(all), exchange_.rank());
    }

    Segment make(const Neighbours& neighbours) {
        auto made = create(neighbours);
        if (made) {
            fcntl(made->descriptor(), F_SETFD, FD_CLOEXEC); // the ranks open it by its place, no program inherits it
            platform::exclude_from_dumps(
                reinterpret_cast<std::byte*>(&made->header()),
                static_cast<std::size_t>(made->arena(made->ranks()) - reinterpret_cast<std::byte*>(&made->header())));
        }
        const auto place = made ? std::to_string(made->descriptor()) : no_place + made.error().message;
        if (auto told = exchange_.tell(place); !told) return tl::unexpected(told.error());
        return made;
    }
    /// An arena has the same size on all hosts: the least that anybody wants or has memory for, unless that is more
    /// address space than the host with the most ranks has.
    static Segment create(const Neighbours& neighbours) {
        const auto [bytes, is_wish] = neighbours.least_arena();
        if (is_wish) return shm::Segment::create(neighbours.local_size(), bytes);
        const auto fullest = shm::Segment::create(neighbours.largest_local_size(), 0);
        if (!fullest) return tl::unexpected(fullest.error());
        return shm::Segment::create(neighbours.local_size(), std::min(bytes, fullest->arena_bytes()));
    }
    Segment find(const Neighbours& neighbours) {
        if (auto told = exchange_.tell(std::string()); !told) return tl::unexpected(told.error());
        const int leader = neighbours.leader();
        const auto place = exchange_.told_by(leader);
        if (!place) return tl::unexpected(place.error());
        if (place->starts_with(no_place))
            return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("rank {} cannot make the memory of this host: {}", leader,
                                                              place->substr(no_place.size())));
        const auto path = fmt::format("/proc/{}/fd/{}", neighbours.at(leader).process, *place);
        const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (descriptor < 0)
            return fail(
                KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot open the memory that rank {} shares with this host ({}: {}); the ranks of a "
                            "host must run as the same user, see the same /proc, and may trace each other (a "
                            "container may forbid it); kumiki-run does without this",
                            leader, path, std::strerror(errno)));
        auto adopted = shm::Segment::adopt(descriptor, neighbours.local_size());
        close(descriptor); // what is mapped stays
        return adopted;
    }
    Result<> agree(const Segment& segment) {
        const auto told = exchange_.all(segment ? std::string() : segment.error().message);
        if (!told) return tl::unexpected(told.error());
        if (!segment) return tl::unexpected(segment.error());
        for (std::size_t rank = 0; rank < told->size(); ++rank)
            if (!(*told)[rank].empty())
                return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("rank {} cannot join: {}", rank, (*told)[rank]));
        return {};
    }

    static Result<std::vector<std::vector<std::byte>>> exchange_cards(Exchange& exchange,
                                                                      const std::vector<std::byte>& card) {
        auto told = exchange.all({reinterpret_cast<const char*>(card.data()), card.size()});
        if (!told) return tl::unexpected(told.error());
        std::vector<std::vector<std::byte>> cards;
        for (const std::string& bytes : *told) {
            const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
            cards.emplace_back(first, first + bytes.size());
        }
        return cards;
    }

    inline static const std::string no_place = "none: ";
    Exchange exchange_;
};

} // namespace kumiki::fabric
