#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"

namespace kumiki::collective {

using fabric::Network;

Result<> Collectives::scatter(const void* input, const Pieces& sent, void* output, std::size_t bytes, int root) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    if (auto right = check_pieces(Kind::scatter, output, bytes, input, sent, root); !right) return refuse_inside(right);
    const auto pieces = agree_on_pieces(Kind::scatter, sent, bytes, root);
    if (!pieces) return tl::unexpected(pieces.error());

    const bool is_root = group_.rank() == root;
    Network* const network = fabric_.network();
    const auto number = [this](int local) { return group_.number_on_host(local); };
    const auto length = [&](int local) { return pieces->bytes(number(local)); };
    const auto* const from = static_cast<const std::byte*>(input);
    auto* const into = static_cast<std::byte*>(output);
    ++tag_;
    if (group_.here(root)) {
        for (int host = 0; host < group_.hosts() && is_root; ++host)
            if (host != group_.own_host())
                static_cast<void>(
                    network->send_in_collective(group_, group_.leader(host), tag_, pack_for_host(host, from, sent)));
        deal(group_.local_rank(root), length, [&](int local) { return from + sent.offset(number(local)); }, into);
        return {};
    }
    std::vector<std::byte> block(group_.leads() ? bytes_of_host(group_.own_host(), *pieces) : 0);
    if (group_.leads()) network->receive_in_collective(group_, root, tag_, block);
    deal_block(block, 0, *pieces, into);
    return {};
}

} // namespace kumiki::collective
