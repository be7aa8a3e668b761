#pragma once

#include <cstdint>
#include <vector>

#include "fabric/wireup/introduction.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// Derives from the introductions of all ranks which of them share a host, and for one rank its place on its host, its
/// threads and its processors.
class HostMap {
public:
    /// `all` are the introductions in the order of the ranks.
    HostMap(std::vector<Introduction> all, int rank);

    int size() const { return static_cast<int>(all_.size()); }
    /// The first rank of this host.
    int leader() const { return local_.front(); }
    bool leads() const { return leader() == rank_; }
    int local_size() const { return static_cast<int>(local_.size()); }
    int local_rank() const;
    const Introduction& at(int rank) const { return all_[static_cast<std::size_t>(rank)]; }
    const Introduction& own() const { return at(rank_); }

    /// The number of ranks on the host that has the most.
    int largest_local_size() const;
    struct Arena {
        std::uint64_t bytes;
        bool is_wish; ///< a user has set it
    };
    /// The smallest arena that a rank has asked for, or that a host's memory suggests.
    Arena least_arena() const;

    /// Sets what kumiki-run would have set for this rank.
    void settle(Settings& settings) const;

private:
    std::vector<int> sharers(int rank) const;
    std::vector<std::string> other_hosts() const;
    int threads(int rank) const { return threads_[static_cast<std::size_t>(rank)]; }
    bool is_crowded() const;
    bool overlaps() const;
    std::vector<int> processors(Binding bind) const;

    std::vector<Introduction> all_;
    int rank_;
    std::vector<int> threads_; ///< of each rank
    std::vector<int> local_;   ///< the ranks of this host, in order
};

} // namespace kumiki::fabric
