#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "error/result.hpp"
#include "fabric/network/key.hpp"

namespace kumiki::fabric {

/// The data that a rank gives all others so that they can reach it.
struct Card {
    std::uint64_t host_identity = 0; ///< the same at all ranks that share memory
    std::int32_t local_rank = 0;
    Key key;                        ///< which messages to this rank must show
    std::string host;               ///< the host's name, for messages to the user
    std::string addresses;          ///< network addresses of the host (platform::addresses_of)
    std::vector<std::byte> address; ///< address of its transport

    std::vector<std::byte> pack() const;
    static Result<Card> unpack(std::span<const std::byte> bytes);
};

/// Maps ranks to hosts. Hosts are numbered in the order of their first ranks; a host's leader is its local rank 0.
class Hosts {
public:
    /// Fails when the cards contradict each other.
    static Result<Hosts> from(const std::vector<Card>& cards, int own_rank);

    int size() const { return static_cast<int>(place_.size()); } ///< of the job, in ranks
    int count() const { return static_cast<int>(ranks_.size()); }
    int own() const { return host_of(own_rank_); }
    int host_of(int rank) const { return place_[static_cast<std::size_t>(rank)].host; }
    int local_rank(int rank) const { return place_[static_cast<std::size_t>(rank)].local; }
    int rank_at(int host, int local) const {
        return ranks_[static_cast<std::size_t>(host)][static_cast<std::size_t>(local)];
    }
    bool here(int rank) const { return host_of(rank) == own(); }
    int leader(int host) const { return rank_at(host, 0); }
    int own_leader() const { return leader(own()); }
    bool leads() const { return own_leader() == own_rank_; }
    const std::string& name(int host) const { return names_[static_cast<std::size_t>(host)]; }

private:
    struct Place {
        int host, local;
    };
    int own_rank_ = 0;
    std::vector<Place> place_;            ///< by rank
    std::vector<std::vector<int>> ranks_; ///< by host and local rank
    std::vector<std::string> names_;
};

} // namespace kumiki::fabric
