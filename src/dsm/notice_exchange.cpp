#include "dsm/notice_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace kumiki::dsm {
namespace {

/// What precedes a rank's notices, changes and message.
struct Head {
    std::uint32_t notices, changes; ///< how many, and how many bytes
};

std::vector<std::byte> pack(const Released& own) {
    const Head head{static_cast<std::uint32_t>(own.notices.size()), static_cast<std::uint32_t>(own.changes.size())};
    const auto parts = {std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(own.notices)),
                        std::span<const std::byte>(own.changes), own.message};
    std::size_t bytes = 0;
    for (const auto& part : parts) bytes += part.size();
    std::vector<std::byte> packed;
    packed.reserve(bytes);
    for (const auto& part : parts) packed.insert(packed.end(), part.begin(), part.end());
    return packed;
}

} // namespace

bool Exchanged::any_notices() const {
    return std::ranges::any_of(notices, [](const auto& each) { return !each.empty(); });
}

bool Exchanged::any_changes() const {
    return std::ranges::any_of(changes, [](const auto& each) { return !each.empty(); });
}

void Exchanged::copy_message(int rank, std::span<std::byte> into) const {
    const auto& message = messages[static_cast<std::size_t>(rank)];
    std::copy_n(message.begin(), std::min(message.size(), into.size()), into.begin());
}

Result<Exchanged> exchange_notices(const fabric::Fabric& fabric, collective::Collectives& collectives,
                                   const Released& own) {
    Exchanged all;
    if (auto met = collectives.all_collect(pack(own), all.bytes); !met) return tl::unexpected(met.error());
    for (int rank = 0; rank < fabric.size(); ++rank) {
        auto left = all.bytes.of(rank);
        Head head{};
        if (left.size() >= sizeof head) std::memcpy(&head, left.data(), sizeof head);
        if (left.size() < sizeof head + head.notices * sizeof(Notice) + head.changes)
            return fail(KUMIKI_ERROR_STATE, fmt::format("rank {} has sent notices of shared arrays that are cut off; "
                                                        "use the same version of Kumiki at all ranks",
                                                        rank));
        left = left.subspan(sizeof head);
        auto& notices = all.notices.emplace_back(head.notices);
        if (!notices.empty()) std::memcpy(notices.data(), left.data(), notices.size() * sizeof(Notice));
        left = left.subspan(notices.size() * sizeof(Notice));
        all.changes.push_back(left.first(head.changes));
        all.messages.push_back(left.subspan(head.changes));
    }
    return all;
}

} // namespace kumiki::dsm
