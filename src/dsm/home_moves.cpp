#include "dsm/home_moves.hpp"

#include <algorithm>

namespace kumiki::dsm {

HomeMoves::Said& HomeMoves::at(std::size_t page) {
    Said& there = said_[page];
    if (there.round != round_) there = {round_, 0, false, false};
    return there;
}

HomeMoves::Together HomeMoves::decide(const Homes& homes, std::span<const std::vector<Notice>> told, PageSet* changed) {
    const auto any = [told](auto is) {
        return std::ranges::any_of(told, [is](const auto& notices) { return std::ranges::any_of(notices, is); });
    };
    moves_.clear();
    lost_.clear();
    const bool requests = any([this](const Notice& notice) { return is_request(notice); });
    const bool changes = changed != nullptr && any([this](const Notice& notice) { return is_change(notice); });
    if (!requests && !changes) return {};
    ++round_;
    note_changes(told, changed);
    return requests ? plan(homes, told) : Together{};
}

void HomeMoves::note_changes(std::span<const std::vector<Notice>> told, PageSet* changed) {
    for (std::size_t rank = 0; rank < told.size(); ++rank)
        for (const Notice& notice : told[rank]) {
            if (!is_change(notice)) continue;
            for (std::size_t page = notice.first; page < notice.first + notice.count; ++page) {
                Said& there = at(page);
                if (there.changed_by == 0) there.changed_by = static_cast<std::uint16_t>(rank + 1);
                else if (there.changed_by != rank + 1) there.changed_by_several = true;
                if (changed != nullptr) changed->add(page);
            }
        }
}

HomeMoves::Together HomeMoves::plan(const Homes& homes, std::span<const std::vector<Notice>> told) {
    Together together;
    for (std::size_t each = 0; each < told.size(); ++each) { // the lowest rank that has touched a page wins
        const int rank = static_cast<int>(each);
        for (const Notice& notice : told[each])
            for (std::size_t page = notice.first; is_request(notice) && page < notice.first + notice.count; ++page) {
                Said& there = at(page);
                if (notice.kind == Notice::Kind::wanted) {
                    if (!there.changed_by_others(rank) && !there.moved) move(homes, page, rank, false);
                } else if (!there.moved) {
                    const bool lacks = there.changed_by_others(rank) || notice.kind == Notice::Kind::touched_once;
                    move(homes, page, rank, lacks && homes.of(page) != rank);
                    together.fetches = together.fetches || moves_.back().fetch;
                } else {
                    together.collide = true;
                    if (rank == rank_) lost_.push_back(page);
                }
                there.moved = true;
            }
    }
    return together;
}

void HomeMoves::move(const Homes& homes, std::size_t page, int to, bool fetch) {
    const int from = homes.of(page);
    if (!moves_.empty()) {
        Move& last = moves_.back();
        if (page == last.first + last.count && from == last.from && to == last.to && fetch == last.fetch) {
            ++last.count;
            return;
        }
    }
    moves_.push_back({page, 1, from, to, fetch});
}

} // namespace kumiki::dsm
