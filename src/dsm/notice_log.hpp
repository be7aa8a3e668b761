#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsm/notice.hpp"

namespace kumiki::dsm {

/// The notices since the last barrier that somebody has brought, in the order in which they came
/// (docs/decisions/shared-locks.md). Each has a position; a reader that remembers how far it has read gets what came
/// after that. It may lie in memory that several processes share, and zeros are an empty log. Not thread-safe.
class NoticeLog {
public:
    static constexpr std::size_t capacity = 2048;

    /// Empties a log of an earlier epoch: after a barrier everybody knows everything that came before.
    void renew(std::uint64_t epoch) {
        if (epoch <= epoch_) return;
        epoch_ = epoch;
        count_ = 0;
        begin_ = lost_ = end_;
    }
    std::uint64_t epoch() const { return epoch_; }
    /// The position after the last notice.
    std::uint64_t end() const { return end_; }

    void append(const Told& told) {
        if (count_ == capacity) make_room();
        entries_[count_++] = {told, end_++};
    }
    /// Appends the notices from `position` on to `news`. Returns false if some of them are no longer here.
    bool since(std::uint64_t position, std::vector<Told>& news) const;

private:
    struct Entry {
        Told told;
        std::uint64_t position;
    };
    void make_room();

    std::uint64_t epoch_, count_, begin_, end_;
    std::uint64_t lost_; ///< notices before this position are not all here
    std::array<Entry, capacity> entries_;
};

} // namespace kumiki::dsm
