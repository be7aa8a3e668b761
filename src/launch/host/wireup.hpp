#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/protocol/channel.hpp"

namespace kumiki::launch {

/// Ranks of several hosts find each other: each writes its card (length and bytes) into its socket, and when all ranks
/// of the job have done so, each reads the cards of all, in the order of the ranks. What a card says is theirs.
/// Lengths are std::uint32_t in the byte order of the host.
class WireUp {
public:
    using OnMistake = std::function<void(std::string sentence)>;

    WireUp(Channel& channel, const Share& share, OnMistake on_mistake);

    /// The rank's end of its socket; empty when the system has no descriptors left (errno tells).
    Descriptor open(int local_rank);
    void attach(Events& events);
    /// A card that the front has collected.
    void add(const Card& card);

private:
    struct Peer {
        Descriptor socket;
        int rank = 0;
        std::string incoming;
        std::size_t sent = 0; ///< bytes of the book
    };
    void read_card(Peer& peer);
    void open_book();
    void write_book(Peer& peer);
    void close_peer(Peer& peer);

    Channel& channel_;
    const Share& share_;
    OnMistake on_mistake_;
    Events* events_ = nullptr;
    std::vector<Peer> peers_;
    std::vector<std::string> cards_; ///< by rank of the job
    std::vector<bool> known_;
    int missing_;
    std::string book_; ///< all cards, as they are written to each rank
};

} // namespace kumiki::launch
