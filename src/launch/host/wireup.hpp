#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/protocol/channel.hpp"

namespace kumiki::launch {

/// The exchange through which ranks of several hosts find each other: each rank writes its card (length and bytes) to
/// its socket, and when all ranks of the job have done so, each reads the cards of all, in the order of the ranks. The
/// launcher does not interpret the cards. Lengths are std::uint32_t in the byte order of the host.
class WireUp {
public:
    using OnMistake = std::function<void(std::string sentence)>;

    WireUp(Channel& channel, const Share& share, OnMistake on_mistake);

    /// Returns the rank's end of its socket; empty when the system has no descriptors left (errno tells why).
    platform::Descriptor open(int local_rank);
    void attach(Events& events);
    /// Takes a card that the controller has passed on.
    void add(const Card& card);

private:
    struct Peer {
        platform::Descriptor socket;
        int rank = 0;
        std::string incoming;
        std::size_t sent = 0; ///< sent bytes of `all_cards_`
    };
    void read_card(Peer& peer);
    void send_all_cards();
    void write_cards(Peer& peer);
    void close_peer(Peer& peer);

    Channel& channel_;
    const Share& share_;
    OnMistake on_mistake_;
    Events* events_ = nullptr;
    std::vector<Peer> peers_;
    std::vector<std::string> cards_; ///< by rank of the job
    std::vector<bool> known_;
    int missing_;
    std::string all_cards_; ///< with their lengths, as they are written to each rank
};

} // namespace kumiki::launch
