#include "fabric/network/hosts.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace kumiki::fabric {
namespace {

constexpr std::uint32_t card_version = 2;

struct Fixed {
    std::uint32_t version;
    std::int32_t local_rank;
    std::uint64_t host_identity;
    Key key;
    std::uint32_t name_bytes, addresses_bytes, address_bytes, nothing;
};

constexpr int nobody = -1;

Failure wrong(const std::string& host) {
    return {KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("the local ranks of host {} are not 0, 1, 2, ...: they are set by the "
                        "launcher, not by hand",
                        host)};
}

} // namespace

std::vector<std::byte> Card::pack() const {
    const Fixed fixed{card_version,
                      local_rank,
                      host_identity,
                      key,
                      static_cast<std::uint32_t>(host.size()),
                      static_cast<std::uint32_t>(addresses.size()),
                      static_cast<std::uint32_t>(address.size()),
                      0};
    std::vector<std::byte> bytes(sizeof fixed + host.size() + addresses.size() + address.size());
    auto next = bytes.begin();
    const auto append = [&next](std::span<const std::byte> part) { next = std::ranges::copy(part, next).out; };
    append(std::as_bytes(std::span(&fixed, 1)));
    append(std::as_bytes(std::span(host)));
    append(std::as_bytes(std::span(addresses)));
    append(address);
    return bytes;
}

Result<Card> Card::unpack(std::span<const std::byte> bytes) {
    Fixed fixed{};
    if (bytes.size() >= sizeof fixed) std::memcpy(&fixed, bytes.data(), sizeof fixed);
    if (fixed.version != card_version || bytes.size() != sizeof fixed + std::size_t{fixed.name_bytes} +
                                                             std::size_t{fixed.addresses_bytes} +
                                                             std::size_t{fixed.address_bytes})
        return fail(KUMIKI_ERROR_ENVIRONMENT, "a rank of this job runs another version of Kumiki, or another program; "
                                              "start the same program with the same library on every host");
    bytes = bytes.subspan(sizeof fixed);
    const auto next = [&bytes](std::size_t length) {
        const auto part = bytes.first(length);
        bytes = bytes.subspan(length);
        return std::string(reinterpret_cast<const char*>(part.data()), length);
    };
    Card card{.host_identity = fixed.host_identity,
              .local_rank = fixed.local_rank,
              .key = fixed.key,
              .host = next(fixed.name_bytes),
              .addresses = next(fixed.addresses_bytes),
              .address = {}};
    card.address.assign(bytes.begin(), bytes.end());
    return card;
}

Result<Hosts> Hosts::from(const std::vector<Card>& cards, int own_rank) {
    Hosts hosts;
    hosts.own_rank_ = own_rank;
    std::unordered_map<std::uint64_t, int> number;
    for (std::size_t rank = 0; rank < cards.size(); ++rank) {
        const Card& card = cards[rank];
        const auto [host, is_new] = number.try_emplace(card.host_identity, hosts.count());
        if (is_new) {
            hosts.ranks_.emplace_back();
            hosts.names_.push_back(card.host);
        }
        hosts.place_.push_back({host->second, card.local_rank});
        auto& ranks = hosts.ranks_[static_cast<std::size_t>(host->second)];
        const auto local = static_cast<std::size_t>(card.local_rank);
        if (local >= cards.size() || (local < ranks.size() && ranks[local] != nobody))
            return tl::unexpected(wrong(card.host));
        ranks.resize(std::max(ranks.size(), local + 1), nobody);
        ranks[local] = static_cast<int>(rank);
    }
    for (std::size_t host = 0; host < hosts.ranks_.size(); ++host)
        if (std::ranges::find(hosts.ranks_[host], nobody) != hosts.ranks_[host].end())
            return tl::unexpected(wrong(hosts.names_[host]));
    return hosts;
}

} // namespace kumiki::fabric
