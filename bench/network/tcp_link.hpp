#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "bench/common/pair.hpp"
#include "bench/remote-memory/loops.hpp"
#include "kumiki/kumiki.hpp"

// Plain TCP between two ranks: the performance of the network for a program that asks the system only to move bytes. It
// is the bound of everything that is built on TCP.

namespace kumiki::bench {

/// The owner of a socket; -1 means none.
class Socket {
public:
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Socket() {
        if (descriptor_ >= 0) close(descriptor_);
    }

    int get() const { return descriptor_; }

private:
    int descriptor_;
};

/// One connection between the ranks of a pair, on non-blocking sockets: a waiting rank polls. Constructing it is
/// collective over the whole job; it stays empty at ranks outside the pair.
class TcpLink {
public:
    /// `interface`: on which the second rank listens, such as eth0; empty: the first one other than the loopback.
    TcpLink(Job& job, Pair pair, const std::string& interface);

    void send(std::span<const std::byte> data) const;
    void receive(std::span<std::byte> data) const;
    void send_word(std::uint64_t word) const;
    std::uint64_t receive_word() const;

private:
    Socket socket_{-1};
};

/// The interface that KUMIKI_INTERFACE names; empty if it names none.
std::string named_interface();

/// 8 bytes in each direction.
std::function<bool(std::uint64_t)> tcp_ping_pong(const Job& job, const TcpLink& link, Pair pair);
/// A stream from the first rank's `own` memory to the second rank's, which reads as fast as it can and answers at the
/// end.
Mover tcp_mover(const Job& job, const TcpLink& link, std::span<std::byte> own, Pair pair);
/// The same, but each transfer is answered by a reply (reply_bytes) before the next.
Mover tcp_round_trips(const Job& job, const TcpLink& link, std::span<std::byte> own, Pair pair);

} // namespace kumiki::bench
