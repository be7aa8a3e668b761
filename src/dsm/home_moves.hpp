#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsm/homes.hpp"
#include "dsm/notice.hpp"
#include "dsm/page_set.hpp"
#include "platform/zeroed_array.hpp"

namespace kumiki::dsm {

/// The homes of an array that move at a barrier, by what all ranks have told there (docs/decisions/shared-homes.md).
/// All ranks decide the same.
class HomeMoves {
public:
    struct Move {
        std::size_t first, count; ///< pages
        int from, to;
        bool fetch; ///< the new home has no up-to-date copy
    };
    /// What the ranks have to do together.
    struct Together {
        bool fetches = false; ///< fetch what new homes lack, and then meet
        bool collide = false; ///< meet when the differences of pages that several have touched have been applied
    };
    /// What has been told about a page at the present barrier.
    struct Said {
        std::uint32_t round;      ///< of decide(); the rest is void if it is not the present one
        std::uint16_t changed_by; ///< rank + 1; 0: nobody
        bool changed_by_several, moved;

        bool changed_by_others(int rank) const {
            return changed_by_several || (changed_by != 0 && changed_by != rank + 1);
        }
    };

    /// For the array with this number, at rank `rank`.
    HomeMoves(std::uint32_t array, std::size_t pages, int rank) : array_(array), rank_(rank), said_(pages) {}

    /// Decides by the notices of all ranks, by rank. If `changed` is not null, it gets the pages that anybody has
    /// changed; otherwise nothing is known of the pages where no home may move.
    Together decide(const Homes& homes, std::span<const std::vector<Notice>> told, PageSet* changed);
    const Said& said(std::size_t page) { return at(page); }
    const std::vector<Move>& moves() const { return moves_; }
    /// Pages whose home another rank becomes, though this one has touched them, too.
    const std::vector<std::size_t>& lost() const { return lost_; }

private:
    bool fits(const Notice& notice) const {
        return notice.array == array_ && notice.first <= said_.size() && notice.count <= said_.size() - notice.first;
    }
    bool is_change(const Notice& notice) const { return notice.kind == Notice::Kind::changed && fits(notice); }
    bool is_request(const Notice& notice) const { return notice.kind >= Notice::Kind::touched && fits(notice); }
    Said& at(std::size_t page);
    void note_changes(std::span<const std::vector<Notice>> told, PageSet* changed);
    Together plan(const Homes& homes, std::span<const std::vector<Notice>> told);
    void move(const Homes& homes, std::size_t page, int to, bool fetch);

    std::uint32_t array_;
    int rank_;
    platform::ZeroedArray<Said> said_;
    std::uint32_t round_ = 0;
    std::vector<Move> moves_;
    std::vector<std::size_t> lost_;
};

} // namespace kumiki::dsm
