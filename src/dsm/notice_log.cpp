#include "dsm/notice_log.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace kumiki::dsm {

bool NoticeLog::since(std::uint64_t position, std::vector<Told>& news) const {
    const std::span here(entries_.data(), count_);
    const auto first = std::ranges::lower_bound(here, position, {}, &Entry::position);
    for (auto entry = first; entry != here.end(); ++entry) news.push_back(entry->told);
    return std::max(position, begin_) >= lost_;
}

/// Removes the notices of a run that the same writer has announced again later: a reader that gets, or already has, the
/// later one has the earlier one, too, because every reader gets the notices of one writer in their order. If much
/// remains, the older part goes.
void NoticeLog::make_room() {
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t>> later;
    std::size_t kept = capacity; // the newest ones, at the end of the array
    for (std::size_t at = capacity; at-- > 0;) {
        const Entry& entry = entries_[at];
        const Notice& notice = entry.told.notice;
        if (!later.emplace(entry.told.writer, notice.array, notice.first, notice.count).second) continue;
        if (capacity - kept == capacity / 2) {
            lost_ = entry.position + 1;
            break;
        }
        entries_[--kept] = entry;
    }
    std::copy(entries_.begin() + static_cast<std::ptrdiff_t>(kept), entries_.end(), entries_.begin());
    count_ = capacity - kept;
}

} // namespace kumiki::dsm
