#include "bench/network/tcp_link.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <system_error>

namespace kumiki::bench {
namespace {

constexpr double patience = 10; ///< seconds for establishing the connection

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int checked(int result, const char* what) {
    if (result < 0) fail(what);
    return result;
}

bool awaiting(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

/// The address on which the second rank listens, and the word by which it recognises the first one.
struct Invitation {
    sockaddr_in6 address; ///< the larger of the two kinds; the family says which one it is
    socklen_t bytes;
    std::uint64_t token;
};

/// The address of an interface, preferably an IPv4 address. If `interface` is empty: that of the first interface other
/// than the loopback, or else of the loopback.
Invitation address_of(const std::string& interface) {
    ifaddrs* listed = nullptr;
    checked(getifaddrs(&listed), "cannot list the network interfaces");
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(listed, freeifaddrs);
    const ifaddrs* best = nullptr;
    int best_merit = 0;
    for (const ifaddrs* each = listed; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
        const int family = each->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        if (!interface.empty() && interface != each->ifa_name) continue;
        const int merit = 1 + ((each->ifa_flags & IFF_LOOPBACK) == 0 ? 2 : 0) + (family == AF_INET ? 1 : 0);
        if (merit > best_merit) {
            best = each;
            best_merit = merit;
        }
    }
    if (best == nullptr)
        throw std::runtime_error(interface.empty() ? "this host has no network interface with an address"
                                                   : "this host has no interface " + interface +
                                                         " with an address (KUMIKI_INTERFACE)");
    Invitation found{};
    found.bytes = best->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&found.address, best->ifa_addr, found.bytes);
    return found;
}

sockaddr* generic(Invitation& invitation) { return reinterpret_cast<sockaddr*>(&invitation.address); }

Socket listen_at(Invitation& invitation) {
    Socket listener(checked(socket(invitation.address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                            "cannot make a socket"));
    checked(bind(listener.get(), generic(invitation), invitation.bytes), "cannot bind a socket to the interface");
    checked(listen(listener.get(), 4), "cannot listen");
    checked(getsockname(listener.get(), generic(invitation), &invitation.bytes), "cannot ask for the port");
    return listener;
}

Socket connect_to(Invitation invitation) {
    Socket connection(
        checked(socket(invitation.address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot make a socket"));
    checked(connect(connection.get(), generic(invitation), invitation.bytes), "cannot connect to the other rank");
    return connection;
}

/// The next connection; the invited rank connects at once.
Socket accept_from(const Socket& listener) {
    const auto start = Clock::now();
    while (true) {
        Socket connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection.get() >= 0) return connection;
        if (!awaiting(errno)) fail("cannot accept the other rank's connection");
        if (seconds_since(start) > patience) throw std::runtime_error("the other rank did not connect by TCP");
    }
}

} // namespace

TcpLink::TcpLink(Job& job, Pair pair, const std::string& interface) {
    Invitation invitation{};
    Socket listener(-1);
    if (job.rank() == pair.second) {
        invitation = address_of(interface);
        std::random_device chance;
        invitation.token = std::uint64_t{chance()} << 32 | chance();
        listener = listen_at(invitation);
    }
    job.broadcast(std::span(reinterpret_cast<std::byte*>(&invitation), sizeof invitation), pair.second);
    if (!pair.holds(job.rank())) return;
    socket_ = job.rank() == pair.second ? accept_from(listener) : connect_to(invitation);
    const int yes = 1;
    checked(setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), "cannot set TCP_NODELAY");
    checked(fcntl(socket_.get(), F_SETFL, O_NONBLOCK), "cannot make a socket that does not block");
    if (job.rank() == pair.first) send_word(invitation.token);
    else if (receive_word() != invitation.token)
        throw std::runtime_error("a program other than the other rank has connected; measure again");
}

void TcpLink::send(std::span<const std::byte> data) const {
    while (!data.empty()) {
        const ssize_t sent = ::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL);
        if (sent >= 0) data = data.subspan(static_cast<std::size_t>(sent));
        else if (!awaiting(errno)) fail("cannot send by TCP");
    }
}

void TcpLink::receive(std::span<std::byte> data) const {
    while (!data.empty()) {
        const ssize_t received = recv(socket_.get(), data.data(), data.size(), 0);
        if (received == 0) throw std::runtime_error("the other rank has closed its TCP connection");
        if (received > 0) data = data.subspan(static_cast<std::size_t>(received));
        else if (!awaiting(errno)) fail("cannot receive by TCP");
    }
}

void TcpLink::send_word(std::uint64_t word) const { send(std::as_bytes(std::span(&word, 1))); }

std::uint64_t TcpLink::receive_word() const {
    std::uint64_t word = 0;
    receive(std::as_writable_bytes(std::span(&word, 1)));
    return word;
}

std::string named_interface() {
    const char* const named = std::getenv("KUMIKI_INTERFACE");
    return named == nullptr ? "" : named;
}

std::function<bool(std::uint64_t)> tcp_ping_pong(const Job& job, const TcpLink& link, Pair pair) {
    return [&job, &link, pair, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        if (!pair.holds(job.rank())) return true;
        const bool first = job.rank() == pair.first;
        bool right = true;
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            if (first) link.send_word(turn);
            right = link.receive_word() == turn && right;
            if (!first) link.send_word(turn);
        }
        return right;
    };
}

Mover tcp_mover(const Job& job, const TcpLink& link, std::span<std::byte> own, Pair pair) {
    if (!pair.holds(job.rank())) return {};
    const bool first = job.rank() == pair.first;
    const auto move = [&link, own, first](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        for (std::uint64_t i = 0; i < count; ++i) {
            if (first) link.send(own.first(bytes));
            else link.receive(own.first(bytes));
        }
        if (!first) link.send_word(batch);
        else if (link.receive_word() != batch) throw std::runtime_error("TCP: an answer belongs to another batch");
    };
    if (first) return {own, {}, move};
    return {{}, own, move};
}

Mover tcp_round_trips(const Job& job, const TcpLink& link, std::span<std::byte> own, Pair pair) {
    if (!pair.holds(job.rank())) return {};
    const bool first = job.rank() == pair.first;
    const auto move = [&link, own, first](std::size_t bytes, std::uint64_t count, std::uint64_t) {
        std::array<std::byte, reply_bytes> reply{};
        for (std::uint64_t i = 0; i < count; ++i) {
            if (first) {
                link.send(own.first(bytes));
                link.receive(reply);
            } else {
                link.receive(own.first(bytes));
                link.send(reply);
            }
        }
    };
    if (first) return {own, {}, move};
    return {{}, own, move};
}

} // namespace kumiki::bench
