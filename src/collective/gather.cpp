#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"

namespace kumiki::collective {

using fabric::Network;

Result<> Collectives::gather(const void* input, std::size_t bytes, void* output, const Pieces& received, int root) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    if (auto right = check_pieces(Kind::gather, input, bytes, output, received, root); !right)
        return refuse_inside(right);
    const auto pieces = agree_on_pieces(Kind::gather, received, bytes, root);
    if (!pieces) return tl::unexpected(pieces.error());

    const bool is_root = group_.rank() == root;
    Network* const network = fabric_.network();
    const std::span own(static_cast<const std::byte*>(input), bytes);
    const auto number = [this](int local) { return group_.number_on_host(local); };
    const auto length = [&](int local) { return pieces->bytes(number(local)); };
    auto* const into = static_cast<std::byte*>(output);
    ++tag_;
    if (group_.here(root)) {
        const Places place = [&](int local) { return into + received.offset(number(local)); };
        collect(own, length, is_root ? place : Places{});
        for (int host = 0; host < group_.hosts() && is_root; ++host) {
            if (host == group_.own_host()) continue;
            std::vector<std::byte> block(bytes_of_host(host, *pieces));
            network->receive_in_collective(group_, group_.leader(host), tag_, block);
            unpack_from_host(host, block, into, received);
        }
        return {};
    }
    // The leader of another host sends the pieces of its host to the root, one after another.
    std::vector<std::byte> block(group_.leads() ? bytes_of_host(group_.own_host(), *pieces) : 0);
    const auto begins = begins_on_host(*pieces);
    const Places place = [&](int local) { return block.data() + begins[static_cast<std::size_t>(local)]; };
    collect(own, length, group_.leads() ? place : Places{});
    return group_.leads() ? network->send_in_collective(group_, root, tag_, block) : Result<>{};
}

} // namespace kumiki::collective
