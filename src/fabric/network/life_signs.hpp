#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace kumiki::fabric {

/// Who has shown signs of life. Whoever watches counts its own beats and not seconds: a watcher that was stopped itself
/// (Ctrl-Z, a suspended machine) has missed none, and does not wake up to believe that all the others have died. The
/// counts guard no other data, so no order of memory is needed.
class LifeSigns {
public:
    /// So many beats without a sign are too many.
    LifeSigns(int watched, int most_missed) : most_missed_(most_missed), missed_(static_cast<std::size_t>(watched)) {}

    void seen(int who) { missed_[static_cast<std::size_t>(who)].store(0, std::memory_order_relaxed); }
    void all_seen() {
        for (auto& missed : missed_) missed.store(0, std::memory_order_relaxed);
    }
    /// Another beat of the watcher; whether this one is lost.
    bool miss(int who) {
        return missed_[static_cast<std::size_t>(who)].fetch_add(1, std::memory_order_relaxed) >= most_missed_;
    }
    /// Half the patience is over.
    bool overdue(int who) const {
        return missed_[static_cast<std::size_t>(who)].load(std::memory_order_relaxed) > most_missed_ / 2;
    }

private:
    int most_missed_;
    std::vector<std::atomic<int>> missed_; ///< beats since the last sign
};

} // namespace kumiki::fabric
