#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "kumiki/collectives.hpp"
#include "kumiki/error.hpp"

namespace kumiki {

/// A subset of the job's ranks, numbered from 0 in an order of its own. The collective calls split() and subgroup() of
/// the job or of another group make one. The destructor frees the group and does not wait. A group must be destroyed
/// before its job.
class Group : public Collectives {
public:
    explicit Group(kumiki_group* made) noexcept : Collectives(made) {}
    Group(Group&& other) noexcept : Collectives(std::exchange(other.group_, nullptr)) {}
    Group& operator=(Group&& other) noexcept {
        std::swap(group_, other.group_);
        return *this;
    }
    ~Group() { kumiki_group_free(&group_); }

    /// Converts a rank of this group into a rank of the job, for put, get, send, ...; returns -1 when there is no such
    /// rank.
    int rank_in_job(int rank) const noexcept { return kumiki_group_rank_in_job(group_, rank); }
    /// Converts a rank of the job into a rank of this group; returns -1 when that rank is not in this group.
    int rank_of(int rank_in_job) const noexcept { return kumiki_group_rank_of(group_, rank_in_job); }
};

inline std::optional<Group> Collectives::split(int colour, int key) {
    kumiki_group* made = nullptr;
    detail::check(kumiki_group_split(group_, colour, key, &made));
    return made == nullptr ? std::nullopt : std::optional<Group>(std::in_place, made);
}

inline std::optional<Group> Collectives::subgroup(std::span<const int> ranks) {
    kumiki_group* made = nullptr;
    detail::check(kumiki_group_create(group_, ranks.data(), ranks.size(), &made));
    return made == nullptr ? std::nullopt : std::optional<Group>(std::in_place, made);
}

} // namespace kumiki
