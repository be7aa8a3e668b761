#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "dsm/courier.hpp"
#include "dsm/history.hpp"
#include "dsm/notice.hpp"
#include "dsm/pages.hpp"
#include "dsm/turn.hpp"
#include "dsm/written_words.hpp"

namespace kumiki::dsm {

/// What a rank does with its copies of all arrays when it releases and acquires. All threads of the rank share these
/// copies, and one thread at a time does this: a thread that finds nothing left to release must not continue before
/// another one has finished releasing what it wrote, and a thread for which a notice is no news must not continue
/// before the copies that it names have been dropped.
class Consistency {
public:
    /// `courier` is null when all ranks are on this host.
    Consistency(fabric::Fabric& fabric, const Arrays& arrays, Courier* courier)
        : arrays_(arrays), courier_(courier), history_(fabric.size(), fabric.rank()), turn_(fabric, busy_) {}

    /// Ends an interval at a lock: when it returns, everything that this rank has written is at the homes and in its
    /// history. Calls pass(history), which gives what the manager of the lock lacks of it to that manager, before
    /// another thread of this rank can give it more.
    template <class Pass>
    void release(Pass pass) {
        const std::lock_guard turn(turn_);
        publish();
        pass(history_);
    }
    /// Reads notices: calls read(history, news), which appends them and returns false if some are missing, and drops
    /// the copies of their pages.
    template <class Read>
    void acquire(Read read) {
        const std::lock_guard turn(turn_);
        std::vector<Told> news;
        const bool complete = read(history_, news);
        apply(news, complete);
    }
    /// Calls each(history).
    template <class Each>
    void with_history(Each each) {
        const std::lock_guard turn(turn_);
        each(history_);
    }

    /// Ends an interval at a barrier: returns what this rank has written since the last barrier. If there is anything,
    /// all hosts will know when they have left the barrier, this one by `words`.
    std::vector<Notice> release_to_all(std::uint64_t barrier, WrittenWords& words);
    /// Drops the copies of the pages that others have announced at the barrier, and decides homes. `told`: by rank.
    Pages::Moving acquire_from_all(std::span<const std::vector<Notice>> told);
    /// What follows if it says so (Pages).
    void fetch_moved();
    void finish_moves();

private:
    void publish();
    void apply(std::span<const Told> news, bool complete);
    void invalidate(const Notice& notice, std::vector<Notice>& own);

    const Arrays& arrays_;
    Courier* courier_;
    History history_;
    std::atomic<std::uint8_t> busy_{0};
    Turn turn_;
};

} // namespace kumiki::dsm
