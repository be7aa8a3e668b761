#include "platform/peer_memory.hpp"

#include <cerrno>
#include <sys/prctl.h>
#include <sys/uio.h>

namespace kumiki::platform {
namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

/// The system may move less than requested.
PeerCopy move_all(Call call, int process, std::uint64_t there, std::byte* here, std::size_t bytes) {
    while (bytes > 0) {
        const iovec own{here, bytes}, other{reinterpret_cast<void*>(there), bytes};
        const ssize_t moved = call(process, &own, 1, &other, 1, 0);
        if (moved <= 0) return moved < 0 && errno == ESRCH ? PeerCopy::gone : PeerCopy::refused;
        here += moved;
        there += static_cast<std::uint64_t>(moved);
        bytes -= static_cast<std::size_t>(moved);
    }
    return PeerCopy::done;
}

} // namespace

void admit_peers() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

PeerCopy read_peer(int process, std::uint64_t from, std::byte* to, std::size_t bytes) {
    return move_all(process_vm_readv, process, from, to, bytes);
}

PeerCopy write_peer(int process, std::uint64_t to, const std::byte* from, std::size_t bytes) {
    return move_all(process_vm_writev, process, to, const_cast<std::byte*>(from), bytes);
}

} // namespace kumiki::platform
