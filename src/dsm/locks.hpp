#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dsm/consistency.hpp"
#include "dsm/lock_area.hpp"
#include "dsm/lock_clocks.hpp"
#include "dsm/page_name.hpp"
#include "error/result.hpp"
#include "explain/record.hpp"
#include "dsm/word_change.hpp"
#include "fabric/fabric.hpp"
#include "platform/zeroed_array.hpp"

namespace kumiki::dsm {

/// The locks of a job (docs/decisions/shared-locks.md). A lock has a manager, which is a rank: the ranks of its host
/// change the lock's state in the manager's region, and for others the manager's receiving thread does. Locks are
/// granted in the order in which they were asked for. Thread-safe.
class Locks {
public:
    /// The kinds of its messages, which the courier carries (MessageHeader::operation).
    enum class Kind : std::uint8_t {
        ask = 64, ///< for lock `value`, by the thread with place `ticket`, which has read the log to `offset`; it wants
                  ///< the page that `bytes` names, if the news drop it
        ask_once, ///< the same, but the thread does not wait if the lock is held
        answer,   ///< to the thread with place `ticket`; with notices, and the log's end in `offset`. `signal`: see
                  ///< Mark. After a change, with the value before in `bytes`; with a page, with its length there
        release,  ///< of lock `value`, with notices
        watch,    ///< asks for `news` as soon as the log is longer than `offset`
        news,     ///< the log is longer now
        change,   ///< of a word, under lock `value`; otherwise as `ask`, with a WordRequest and notices
        publish,  ///< asks the rank to release what it has written, for the thread with place `ticket`
        recall,   ///< somebody waits for lock `value`, which the rank has
    };

    /// `region` is this rank's part of a region of LockArea::bytes() zeros. `consistency` is null when the ranks have
    /// no copies.
    Locks(fabric::Fabric& fabric, Consistency* consistency, std::byte* region);

    /// Follows the order that the locks make; null: does not.
    void check(LockClocks* clocks) { clocks_ = clocks; }
    /// Records the time that acquisitions take; null: no more.
    void observe(explain::Record* record) { record_ = record; }

    static constexpr int no_lock = -1;
    /// Waits until the calling thread has the lock. Copies that it drops then may have been written by this rank, whose
    /// changes it brings to their homes: it does so while it holds lock `under`, too, and releases all. A page that is
    /// wanted with the lock comes with the answer, if its home is the lock's manager, on another host, and if this rank
    /// has to drop its copy; unless other threads of this rank interfere.
    Result<> acquire(int lock, int under = no_lock, std::optional<PageName> wanted = {});
    /// Returns false if it is held.
    Result<bool> try_acquire(int lock, int under = no_lock);
    Result<> release(int lock);
    /// Lets a word of an array be changed at its home, which must be the manager of this lock and on another host, as
    /// between acquire() and release(). Returns the value before; nothing, and nothing has happened, if the home cannot
    /// do it. Not in a program in which threads wait for variables (VariableWait): what this rank has written comes to
    /// its homes before it has the lock.
    std::optional<std::uint64_t> change_word(int lock, Pages& array, const WordRequest& wanted);
    bool manages_elsewhere(int lock, int rank) const { return manager_of(lock) == rank && region_at(rank) == nullptr; }
    /// The same if the home is this rank, and no other rank of its host shares its locks: its page need not become
    /// writable for a word. `array` is one that does not keep its pages open.
    std::uint64_t change_own_word(int lock, Pages& array, const WordRequest& wanted);
    bool manages_alone(int lock, int rank) const {
        return manager_of(lock) == rank && rank == fabric_.rank() && fabric_.everybody().host_size() == 1;
    }
    /// Waits, at most so long, until the manager of this lock has got notices that this rank lacks; returns whether it
    /// has. For a thread that wants to know when an acquisition will bring something. Only where the manager is this
    /// rank or on another host.
    bool await_news(int lock, std::chrono::nanoseconds most);
    /// Waits until rank `rank`, which is on another host, has released what it has written so far.
    void ask_to_release(int rank);
    /// From now on calls serve(waiter) in the thread that receives if another rank asks for that.
    void serve_releases(std::function<void(Waiter)> serve);
    /// This rank has released, as this waiter wanted.
    void has_released(Waiter waiter);
    /// From now on each rank is told when others wait for a lock that it has, by a call of recall(lock) in the thread
    /// that receives or in one that passes the lock on. So it may keep locks that no thread of it needs at the moment.
    /// All ranks must do so, and each be alone on its host.
    void serve_recalls(std::function<void(int lock)> recall) { recall_ = std::move(recall); }
    /// This rank keeps the lock that the calling thread has, for another thread of it. False: the thread does not have
    /// it.
    bool keep(int lock) {
        const void* mine = this_thread();
        return owners_[static_cast<std::size_t>(lock)].compare_exchange_strong(mine, nullptr,
                                                                               std::memory_order_relaxed);
    }
    /// The calling thread has a lock that this rank has kept.
    void take_over(int lock) {
        owners_[static_cast<std::size_t>(lock)].store(this_thread(), std::memory_order_relaxed);
    }
    /// Whether a thread of this rank has the lock.
    bool is_held_here(int lock) const {
        return owners_[static_cast<std::size_t>(lock)].load(std::memory_order_relaxed) != nullptr;
    }
    /// Fails if a thread of this rank holds a lock.
    Result<> all_released() const;

    // -- for the courier, in the thread that receives --

    bool receive(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    void left(std::uint64_t ticket) { posted_.erase(ticket); }

private:
    /// The right to wait in the queue of a lock.
    class Place {
    public:
        explicit Place(Locks& locks);
        ~Place();
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        std::uint32_t number() const { return number_; }
        static constexpr std::uint32_t bits = 64; ///< of a word of the taken places

    private:
        bool take();
        Locks& locks_;
        std::uint32_t number_ = 0;
    };
    /// What came with the answer to a thread of this rank.
    struct Arrival {
        std::vector<Told> news;
        LockArea::Read read;
        std::uint64_t before;        ///< of a word
        std::vector<std::byte> page; ///< empty: none came
        Pages::Origin origin;        ///< of the page
    };
    /// What the answer says of the news, and of the page that comes with it.
    struct Mark {
        static constexpr std::uint64_t complete = 1;   ///< they are all that the rank lacked
        static constexpr std::uint64_t page = 2;       ///< there is one, behind the notices
        static constexpr std::uint64_t unreleased = 4; ///< its home may have written to it since its last release
    };
    /// What a thread of another host waits for.
    struct Wanted {
        bool is_change = false; ///< false: the lock
        std::uint64_t page = 0; ///< with the lock; the code of its name
        std::uint64_t epoch = 0;
        WordRequest request{};
    };
    struct Outgoing {
        fabric::MessageHeader header;
        std::vector<std::byte> payload;
    };
    /// Whether a manager is to tell this rank of news.
    enum class Watch : std::uint8_t { none, asked, told };

    Result<> check(int lock, const char* operation) const;
    int manager_of(int lock) const { return lock % fabric_.size(); }
    /// Null if the rank is on another host.
    std::byte* region_at(int rank) const;
    LockArea area_at(int rank) const { return LockArea(region_at(rank), fabric_.size()); }
    Waiter waiter(const Place& place) const { return {static_cast<std::uint32_t>(fabric_.rank()), place.number()}; }

    void end_interval();
    Result<> has(int lock);
    void take_here(int lock, LockArea area);
    bool ask(int lock, Kind kind, int under, std::optional<PageName> wanted = {});
    template <class Drop>
    void drop_copies(int under, Drop drop);
    bool has_read_log(int manager);
    LockArea::Answer await(const Place& place);
    bool take_in(const Place& place, int manager, History& history, std::vector<Told>& news);
    void read_log(int manager, int under);
    template <class Deliver>
    void pass_on(int lock, LockArea area, std::uint64_t epoch, Deliver deliver);
    void pass_on(int lock, LockArea area);
    Outgoing change(const LockArea::Next& next, LockArea area);
    Outgoing answer_for(const LockArea::Next& next, std::uint64_t epoch, LockArea area, LockArea::Answer answer);
    void add_page(Outgoing& outgoing, const LockArea::Next& next, std::span<const Told> news);
    void post(int rank, Outgoing outgoing);
    void send(int rank, const fabric::MessageHeader& header, std::span<const std::byte> payload);
    fabric::MessageHeader header(Kind kind) const;

    void ask_for_news(int manager);
    void watch(int rank, std::uint64_t position);
    bool told_news();
    template <class Tell>
    void tell_watchers(Tell tell);
    void send_news();
    void post_news();
    bool has_news(int rank, std::uint64_t position) const;

    bool unpack(std::span<const std::byte> payload, std::vector<Told>& news) const;
    bool asked(const fabric::MessageHeader& header);
    bool answered(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    bool released(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    bool watched(const fabric::MessageHeader& header);
    bool asked_to_change(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    bool asked_to_release(const fabric::MessageHeader& header);
    bool recalled(const fabric::MessageHeader& header);
    template <class Deliver>
    void recall(int lock, int holder, Deliver deliver);
    static const void* this_thread();

    fabric::Fabric& fabric_;
    Consistency* consistency_;
    std::byte* region_;
    explain::Record* record_ = nullptr;
    LockClocks* clocks_ = nullptr;
    std::vector<std::atomic<const void*>> owners_; ///< by lock: the thread of this rank that holds it (this_thread())
    std::array<std::atomic<std::uint64_t>, Waiter::places / Place::bits> taken_places_{}; ///< a bit each
    std::array<Arrival, Waiter::places>
        arrivals_;                         ///< by place; belongs to the receiving thread until the answer is set
    platform::ZeroedArray<Wanted> wanted_; ///< by number of the waiter; the lock of a lock's queue orders its uses
    std::map<std::uint64_t, std::vector<std::byte>>
        posted_; ///< payloads that have not left; used by the receiving thread
    std::uint64_t tickets_ = 0;
    std::function<void(int lock)> recall_;       ///< empty: no rank keeps locks
    std::function<void(Waiter)> serve_releases_; ///< empty: nothing is ever asked for
    std::atomic<bool> serves_releases_{false};   ///< set after it
    std::atomic<Watch> watch_{Watch::none};
    std::vector<std::atomic<std::uint64_t>>
        watchers_; ///< by rank that this one will tell: what it has read of the log, + 1; 0: it does not wait
};

/// Tells the rank that has the lock that another one waits for it.
template <class Deliver>
void Locks::recall(int lock, int holder, Deliver deliver) {
    if (!recall_ || holder < 0) return;
    if (holder == fabric_.rank()) return recall_(lock);
    Outgoing outgoing{header(Kind::recall), {}};
    outgoing.header.value = static_cast<std::uint64_t>(lock);
    deliver(holder, outgoing);
}

/// Gives the lock, which no thread has any more, to the first one that waits for it. Where threads of other hosts only
/// want a change, they get it at once. Calls deliver(rank, outgoing) with answers to other hosts.
template <class Deliver>
void Locks::pass_on(int lock, LockArea area, std::uint64_t epoch, Deliver deliver) {
    for (LockArea::Next next{}; area.pass(lock, next);) {
        const auto rank = static_cast<int>(next.waiter.rank);
        if (region_at(rank) != nullptr) {
            area_at(rank).answer(next.waiter.place).store(LockArea::Answer::granted, std::memory_order_release);
            fabric_.progress().ring(rank);
            if (!next.is_last) recall(lock, rank, deliver);
            return;
        }
        if (!wanted_[next.waiter.number()].is_change) {
            deliver(rank, answer_for(next, epoch, area, LockArea::Answer::granted));
            if (!next.is_last) recall(lock, rank, deliver);
            return;
        }
        deliver(rank, change(next, area));
    }
}

} // namespace kumiki::dsm
