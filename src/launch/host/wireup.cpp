#include "launch/host/wireup.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>

#include "fabric/wireup/wireup.hpp"

namespace kumiki::launch {
namespace {

using fabric::longest_card;
using Length = std::uint32_t;

} // namespace

WireUp::WireUp(Channel& channel, const Share& share, OnMistake on_mistake)
    : channel_(channel),
      share_(share),
      on_mistake_(std::move(on_mistake)),
      cards_(static_cast<std::size_t>(share.size)),
      known_(cards_.size()),
      missing_(share.size) {}

platform::Descriptor WireUp::open(int local_rank) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
    platform::Descriptor own(ends[0]), other(ends[1]);
    fcntl(own.get(), F_SETFL, O_NONBLOCK);
    peers_.push_back({.socket = std::move(own), .rank = share_.first + local_rank, .incoming = {}});
    return other;
}

void WireUp::attach(Events& events) {
    events_ = &events;
    for (Peer& peer : peers_) events.add(peer.socket.get(), EPOLLIN, [this, &peer] { read_card(peer); });
}

void WireUp::read_card(Peer& peer) {
    std::array<char, 4096> buffer;
    const ssize_t bytes = read(peer.socket.get(), buffer.data(), buffer.size());
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes <= 0) return close_peer(peer);
    peer.incoming.append(buffer.data(), static_cast<std::size_t>(bytes));
    Length length = 0;
    if (peer.incoming.size() < sizeof length) return;
    std::memcpy(&length, peer.incoming.data(), sizeof length);
    if (length > longest_card) {
        close_peer(peer);
        return on_mistake_(fmt::format("rank {} sent a card of {} bytes; the most is {}: is the program built with the "
                                       "version of Kumiki that starts it?",
                                       peer.rank, length, longest_card));
    }
    if (peer.incoming.size() < sizeof length + length) return;
    events_->remove(peer.socket.get()); // a rank sends nothing else
    channel_.send(Card{peer.rank, peer.incoming.substr(sizeof length, length)});
}

void WireUp::add(const Card& card) {
    const auto rank = static_cast<std::size_t>(card.rank);
    if (rank >= cards_.size() || known_[rank]) return;
    known_[rank] = true;
    cards_[rank] = card.text;
    if (--missing_ == 0) send_all_cards();
}

void WireUp::send_all_cards() {
    for (const std::string& card : cards_) {
        const auto length = static_cast<Length>(card.size());
        all_cards_.append(reinterpret_cast<const char*>(&length), sizeof length).append(card);
    }
    cards_.clear();
    for (Peer& peer : peers_)
        if (peer.socket) events_->add(peer.socket.get(), EPOLLOUT, [this, &peer] { write_cards(peer); });
}

void WireUp::write_cards(Peer& peer) {
    const std::string_view left = std::string_view(all_cards_).substr(peer.sent);
    const ssize_t bytes = send(peer.socket.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes < 0) return close_peer(peer);
    peer.sent += static_cast<std::size_t>(bytes);
    if (peer.sent == all_cards_.size())
        events_->remove(peer.socket.get()); // the socket stays open until the rank closes it
}

void WireUp::close_peer(Peer& peer) {
    events_->remove(peer.socket.get());
    peer.socket.reset();
}

} // namespace kumiki::launch
