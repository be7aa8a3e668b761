#pragma once

#include <cstddef>
#include <cstdint>

namespace kumiki::platform {

/// Lets other processes of this user access this one's memory on systems that require permission for it (Linux: Yama).
void admit_peers();

enum class PeerCopy {
    done,
    refused, ///< the system does not allow it, or there is no such memory
    gone,    ///< the process has ended
};

/// Copies between this process and another one, of which only the number and an address are known.
PeerCopy read_peer(int process, std::uint64_t from, std::byte* to, std::size_t bytes);
PeerCopy write_peer(int process, std::uint64_t to, const std::byte* from, std::size_t bytes);

} // namespace kumiki::platform
