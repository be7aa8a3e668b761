#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "message/request_table.hpp"

namespace kumiki::message {

/// The ways in which a process can reach the memory of other processes on its host. Tests disable some.
struct Ways {
    bool mapped = true; ///< memory in a region or in the same process, which is mapped here
    bool system = true; ///< process_vm_readv and process_vm_writev, where the system allows them
};

/// Moves long messages between ranks of one host without an intermediate copy. A message is cut into parts, and any
/// available thread of either rank claims the next part: a thread of the receiver that waits in the library pulls, a
/// thread of the sender pushes. So two processors copy, and neither depends on the other.
///
/// One thread of a rank copies at a time, on behalf of all others.
class Copier {
public:
    /// `part` is the length of parts; 0 derives it from the length of the message, with `longest` as the maximum (0:
    /// the length that is usually best).
    Copier(RequestTable& table, Ways ways, std::size_t part, std::size_t longest);

    // -- with the table's lock held --

    /// Starts the receiver's side, if this process can reach the data. `alone`: the receiver copies alone, and the
    /// sender must be told when it has finished. `shared`: the sender may help through receive.copy.transfer.
    enum class Help { alone, shared, no_way };
    Help pull(Request& receive, const Announcement& announced);
    /// Starts the sender's side, after the receiver has shared its work.
    void push(Request& send, fabric::shm::Transfer& transfer);

    // -- without the lock --

    /// all: every message; alone: only those whose other side cannot help.
    enum class Which { all, alone };
    /// Copies only one part, so that a thread that waits for something else sees it soon; returns whether it did. Calls
    /// told(request), with the lock held, for each receive whose sender must be told that it is complete.
    template <class Told>
    bool run(Told told, Which which);

private:
    template <class Told>
    bool look(Told told, Which which);
    template <class Told>
    void finish(Request& request, Told told);
    bool reach(Request& request, std::uint64_t offset, std::uint64_t address);
    fabric::shm::Transfer* free_transfer();
    std::size_t part_of(const Request& request) const;
    bool copy_part(Request& request);
    bool is_done(const Request& request) const {
        return request.copy.transfer->done.load(std::memory_order_acquire) >= request.length;
    }
    void add(Request& request);

    enum class Reach : std::uint8_t { unknown, yes, no };

    RequestTable& table_;
    Ways ways_;
    std::size_t part_, longest_part_;
    std::vector<Reach> reach_; ///< by rank: whether the system lets this process reach its memory
    List<Request> copies_;
    struct Own { ///< a transfer that is not shared
        fabric::shm::Transfer transfer{};
        std::atomic<bool> free{false};
    };
    Pool<Own> alone_;
    std::atomic<int> count_{0};           ///< length of copies_
    std::atomic<std::uint64_t> added_{0}; ///< copies added so far
    std::atomic<bool> copying_{false};    ///< a thread is in run()
};

template <class Told>
bool Copier::run(Told told, Which which) {
    // A thread that adds a copy does so before it checks whether a thread is copying already; a thread that copies
    // gives up copying_ before it checks whether a copy was added. Both exchange the same word, so one of them sees the
    // other.
    while (count_.load(std::memory_order_relaxed) != 0 && !copying_.exchange(true, std::memory_order_acq_rel)) {
        const std::uint64_t added = added_.load(std::memory_order_relaxed);
        const bool copied = look(told, which);
        copying_.exchange(false, std::memory_order_acq_rel);
        if (copied) {
            table_.fabric.progress().ring(table_.fabric.rank()); // parts may remain: no thread may sleep
            return true;
        }
        if (added_.load(std::memory_order_relaxed) == added) return false;
    }
    return false;
}

template <class Told>
bool Copier::look(Told told, Which which) {
    bool copied = false;
    std::unique_lock lock(table_.lock);
    for (Request* each = copies_.front(); each != nullptr;) {
        if (!copied && (which == Which::all || !each->copy.shared)) {
            lock.unlock();
            copied = copy_part(*each);
            lock.lock();
        }
        Request& looked_at = *each;
        each = each->next;
        if (is_done(looked_at)) finish(looked_at, told);
    }
    return copied;
}

template <class Told>
void Copier::finish(Request& request, Told told) {
    copies_.remove(request);
    count_.fetch_sub(1, std::memory_order_relaxed);
    fabric::shm::Transfer& transfer = *request.copy.transfer;
    request.broken = transfer.broken.load(std::memory_order_relaxed) != 0;
    if (request.copy.shared) transfer.parties.fetch_sub(1, std::memory_order_release);
    else {
        Pool<Own>::give_back(reinterpret_cast<Own&>(transfer));
        told(request);
    }
    table_.complete(request);
}

} // namespace kumiki::message
