#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "collective/collectives.hpp"

namespace kumiki::collective {

using fabric::Group;
using fabric::shm::most_groups;

/// The request that each rank sends to all others: from all requests, every rank determines its group by itself, and
/// whether all groups can be made.
struct Collectives::Wish {
    std::int32_t colour; ///< negative: the rank will be in no group
    std::int32_t key;
    std::uint64_t id;    ///< the identifier of the group if this rank is its first member
    std::int32_t block;  ///< the block that this rank provides for the group; negative: it has none left
    std::uint32_t count; ///< the length of its list, followed by a hash of the list; 0 without a list
    std::uint64_t list;
};

Result<std::unique_ptr<Group>> Collectives::split(int colour, int key) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return tl::unexpected(admitted.error());
    return make_group(Kind::group_split, {colour, key, 0, 0, 0, 0});
}

Result<std::unique_ptr<Group>> Collectives::subgroup(std::span<const int> ranks) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return tl::unexpected(admitted.error());
    const auto refused = [this](const std::string& what) {
        return tl::unexpected(refuse_inside(fail(KUMIKI_ERROR_ARGUMENT, "group: " + what)).error());
    };
    std::vector<char> named(static_cast<std::size_t>(group_.size()));
    std::uint64_t list = 14695981039346656037u;
    for (const int rank : ranks) {
        if (!group_.has_rank(rank))
            return refused(
                fmt::format("there is no rank {}; {} has ranks 0 to {}", rank, group_.what(), group_.size() - 1));
        if (named[static_cast<std::size_t>(rank)]++)
            return refused(fmt::format("rank {} is in the list twice; each rank can be in a group once", rank));
        list = (list ^ static_cast<std::uint32_t>(rank)) * 1099511628211u;
    }
    const auto own = std::ranges::find(ranks, group_.rank());
    if (own == ranks.end()) return make_group(Kind::group_create, {-1, 0, 0, 0, 0, 0});
    return make_group(Kind::group_create, {ranks.front(), static_cast<int>(own - ranks.begin()), 0, 0,
                                           static_cast<std::uint32_t>(ranks.size()), list});
}

namespace {

Failure no_block(const std::string& rank) {
    return {KUMIKI_ERROR_STATE, fmt::format("{} is already in {} groups, including the job, and no rank can be in "
                                            "more; let all members free the groups that they no longer need",
                                            rank, most_groups)};
}

} // namespace

/// All ranks find the same errors in the same requests, so either all of them fail or none.
Result<std::unique_ptr<Group>> Collectives::make_group(Kind kind, Wish own) {
    own.id = fabric_.new_group_id();
    own.block = own.colour < 0 ? 0 : fabric_.group_blocks().take().value_or(-1);
    const auto failed = [&](const Failure& failure) {
        if (own.colour >= 0 && own.block >= 0) fabric_.group_blocks().give_back(own.block, 0);
        return tl::unexpected(failure);
    };
    std::vector<Wish> wishes(static_cast<std::size_t>(group_.size()));
    if (auto told = all_gather_inside(kind, std::as_bytes(std::span(&own, 1)),
                                      std::as_writable_bytes(std::span(wishes)).data(), Pieces::equal(sizeof(Wish)));
        !told)
        return failed(told.error());

    std::vector<int> members; // of this rank's group
    for (int rank = 0; rank < group_.size(); ++rank) {
        const Wish& wish = wishes[static_cast<std::size_t>(rank)];
        if (wish.block < 0) return failed(no_block(group_.describe(rank)));
        const auto agrees = [&](const Wish& other) { return other.colour == wish.colour && other.list == wish.list; };
        if (wish.colour >= 0 && wish.count != 0 && std::ranges::count_if(wishes, agrees) != wish.count)
            return failed({KUMIKI_ERROR_ARGUMENT,
                           fmt::format("group: {} gives a list of {} ranks, but not all of these give the same list; "
                                       "all ranks of a group must",
                                       group_.describe(rank), wish.count)});
        if (wish.colour == own.colour) members.push_back(rank);
    }
    std::unique_ptr<Group> made;
    if (own.colour >= 0) {
        const auto wish = [&](int rank) -> const Wish& { return wishes[static_cast<std::size_t>(rank)]; };
        std::ranges::stable_sort(members, {}, [&](int rank) { return wish(rank).key; });
        std::vector<Group::Member> places;
        for (const int rank : members) places.push_back({group_.rank_in_job(rank), wish(rank).block});
        made = std::make_unique<Group>(fabric_, wish(members.front()).id, places);
    }
    // No message of a group may arrive before all hosts know the group.
    if (!one_host())
        if (auto met = agree_that({}); !met) return tl::unexpected(met.error());
    return made;
}

} // namespace kumiki::collective
