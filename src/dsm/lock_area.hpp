#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsm/notice_log.hpp"
#include "dsm/turn.hpp"
#include "kumiki/shared.h"
#include "platform/memory.hpp"

namespace kumiki::dsm {

/// A thread that waits for a lock: its rank, and its place among the waiting threads of that rank.
struct Waiter {
    /// More threads of a rank than this wait for a place first. If all of these wait for a lock, its holder cannot wait
    /// for another one: so many threads must not meet at one lock.
    static constexpr int places = 1024;

    std::uint32_t rank, place;

    std::uint32_t number() const { return rank * places + place; }
    static Waiter from(std::uint32_t number) { return {number / places, number % places}; }
};

/// The part of a rank in the locks of all ranks: the state of the locks that it manages, and where its own threads
/// wait. It lies in a region, so all ranks of the host use it. Zeros are the beginning.
class LockArea {
public:
    enum class Answer : std::uint32_t { none, granted, refused };

    explicit LockArea(std::byte* region, int ranks) : region_(region), ranks_(static_cast<std::size_t>(ranks)) {}
    static std::size_t bytes(int ranks) {
        const LockArea area(nullptr, ranks);
        return area.begin_of_links() + area.ranks_ * Waiter::places * sizeof(Link);
    }

    /// Takes the lock for a rank. Returns false if it is held.
    bool take(int lock, std::uint32_t rank);
    /// The same; if it is held, the waiter gets to the end of the queue. `position` is what its rank has read of the
    /// log.
    bool take_or_queue(int lock, Waiter waiter, std::uint64_t position);
    /// The rank that holds the lock; -1: none.
    int holder(int lock);

    struct Next {
        Waiter waiter;
        std::uint64_t position;
        bool is_last = true; ///< nobody waits behind it
    };
    /// Gives the lock to the first waiter. Returns false if there is none; the lock is then free.
    bool pass(int lock, Next& next);

    // -- the log of the releases of all locks that this rank manages, for a rank that has been in `epoch` barriers --

    /// Adds what the log does not have yet.
    void tell(std::uint64_t epoch, std::span<const Told> news);
    /// Adds what this rank, which is number `rank`, has changed for another one.
    void tell_changed(std::uint64_t epoch, int rank, const Notice& notice);
    struct Read {
        std::uint64_t end; ///< the position to continue from
        bool complete;     ///< false: some notices are no longer there
    };
    /// Appends the notices from `position` on to `news`.
    Read read(std::uint64_t epoch, std::uint64_t position, std::vector<Told>& news);

    /// Where the thread of this rank with this place finds its answer.
    std::atomic<Answer>& answer(std::uint32_t place) { return head().answers[place].value; }

private:
    struct alignas(platform::cache_line) Lock {
        Brief busy;
        std::uint32_t holder;      ///< rank + 1; 0: the lock is free
        std::uint32_t first, last; ///< the queue: numbers of waiters + 1; 0: it is empty
    };
    struct Link {
        std::uint64_t position;
        std::uint32_t next; ///< number of the next waiter + 1; 0: this is the last one
    };
    struct alignas(platform::cache_line) AnswerLine {
        std::atomic<Answer> value;
    };
    struct alignas(platform::apart) Head {
        std::array<AnswerLine, Waiter::places> answers;
        Brief log_busy;
        NoticeLog log;
    };

    std::size_t begin_of_seen() const {
        return sizeof(Head) + (KUMIKI_SHARED_LOCKS + ranks_ - 1) / ranks_ * sizeof(Lock);
    }
    std::size_t begin_of_links() const { return begin_of_seen() + Told::writers(ranks_) * sizeof(std::uint64_t); }
    Head& head() const { return *reinterpret_cast<Head*>(region_); }
    Lock& at(int lock) const {
        return reinterpret_cast<Lock*>(region_ + sizeof(Head))[static_cast<std::size_t>(lock) / ranks_];
    }
    /// By writer: the number of its last notice that the log has got.
    std::uint64_t& seen(std::uint32_t writer) const {
        return reinterpret_cast<std::uint64_t*>(region_ + begin_of_seen())[writer];
    }
    Link& link(std::uint32_t number) const { return reinterpret_cast<Link*>(region_ + begin_of_links())[number]; }

    std::byte* region_;
    std::size_t ranks_;
};

} // namespace kumiki::dsm
