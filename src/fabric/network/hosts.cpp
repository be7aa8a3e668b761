#include "fabric/network/hosts.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace kumiki::fabric {
namespace {

constexpr std::uint32_t card_version = 1;

struct Fixed {
    std::uint32_t version;
    std::int32_t local_rank;
    std::uint64_t host_identity;
    std::uint32_t name_bytes, address_bytes;
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
    const Fixed fixed{card_version, local_rank, host_identity, static_cast<std::uint32_t>(host.size()),
                      static_cast<std::uint32_t>(address.size())};
    std::vector<std::byte> bytes(sizeof fixed + host.size() + address.size());
    std::memcpy(bytes.data(), &fixed, sizeof fixed);
    std::transform(host.begin(), host.end(), bytes.begin() + sizeof fixed, [](char c) { return std::byte(c); });
    std::copy(address.begin(), address.end(), bytes.end() - static_cast<std::ptrdiff_t>(address.size()));
    return bytes;
}

Result<Card> Card::unpack(std::span<const std::byte> bytes) {
    Fixed fixed{};
    if (bytes.size() >= sizeof fixed) std::memcpy(&fixed, bytes.data(), sizeof fixed);
    if (fixed.version != card_version ||
        bytes.size() != sizeof fixed + std::size_t{fixed.name_bytes} + std::size_t{fixed.address_bytes})
        return fail(KUMIKI_ERROR_ENVIRONMENT, "a rank of this job runs another version of Kumiki, or another program; "
                                              "start the same program with the same library on every host");
    const auto rest = bytes.subspan(sizeof fixed);
    Card card{fixed.host_identity, fixed.local_rank, std::string(fixed.name_bytes, ' '), {}};
    std::memcpy(card.host.data(), rest.data(), fixed.name_bytes);
    card.address.assign(rest.begin() + fixed.name_bytes, rest.end());
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
