#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "fabric/fabric.hpp"
#include "message/list.hpp"
#include "message/lock.hpp"
#include "message/matching.hpp"
#include "platform/held_locks.hpp"

namespace kumiki::message {

/// The address of a request serves as its number within this process and for ranks of this host (Near). Other hosts use
/// the number of a ticket (Far).
inline Request& request_at(std::uint64_t number) { return *reinterpret_cast<Request*>(number); }
inline std::uint64_t number_of(const Request& request) { return reinterpret_cast<std::uintptr_t>(&request); }

/// The state that Near and Far share: the requests and unexpected messages of this rank. Lock order: the network's lock
/// comes before this one, so no thread sends over the network while it holds this one.
struct RequestTable {
    explicit RequestTable(fabric::Fabric& own) : fabric(own), lock(own.progress().patience()) {}

    fabric::Fabric& fabric;
    Lock lock;
    Pool<Request> requests;
    Pool<Arrival> arrivals;
    Matching matching;
    std::atomic<std::uint64_t> fragments{0}; ///< moved by this rank, but for whole messages in slots

    /// With the lock held.
    Request& open(int rank, int tag, std::byte* data, std::size_t bytes) {
        Request& made = requests.take();
        made.done.store(false, std::memory_order_relaxed);
        made.broken = made.staged = made.kept = false;
        made.rank = rank;
        made.tag = tag;
        made.data = data;
        made.bytes = made.length = bytes;
        made.moved = 0;
        made.copied.store(0, std::memory_order_relaxed);
        return made;
    }

    /// For a send, with the lock held. `kept`: what keep() returned. If there is a copy, the program gets no request,
    /// and complete() gives this one back.
    Request& open_send(int rank, int tag, std::span<const std::byte> data, std::unique_ptr<std::byte[]> kept) {
        Request& made = open(rank, tag, const_cast<std::byte*>(data.data()), data.size());
        made.kept = kept != nullptr;
        if (made.kept) made.data = kept.release();
        return made;
    }
    /// Copies a short message; null: it is too long. Without the lock, because this reads the memory of a send.
    static std::unique_ptr<std::byte[]> keep(std::span<const std::byte> data) {
        if (data.size() > longest_kept) return nullptr;
        platform::expect_no_lock("a message is read");
        auto kept = std::make_unique_for_overwrite<std::byte[]>(data.size());
        copy_short(kept.get(), data.data(), data.size());
        return kept;
    }

    /// The thread that waits for the request may end it now; so the caller does not touch it any more.
    void complete(Request& request) {
        if (request.drop_kept()) return Pool<Request>::give_back(request);
        request.done.store(true, std::memory_order_release);
        fabric.progress().ring(fabric.rank()); // another thread may be waiting for it
    }

    /// Assigns a message to a receive, which takes over its envelope. Returns false when the message is too long for
    /// the receive.
    static bool address(Request& receive, int source, int tag, std::size_t bytes) {
        receive.rank = source;
        receive.tag = tag;
        receive.length = bytes;
        return bytes <= receive.bytes;
    }
    /// The same, then stores the data and completes the receive.
    void deliver(Request& receive, int source, int tag, std::span<const std::byte> data) {
        if (address(receive, source, tag, data.size())) copy_short(receive.data, data.data(), data.size());
        complete(receive);
    }

    /// One word is the most frequent length, so it has a path of its own.
    static void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) {
        if (bytes == sizeof(std::uint64_t)) std::memcpy(to, from, sizeof(std::uint64_t));
        else if (bytes > 0) std::memcpy(to, from, bytes);
    }

    /// With the lock held.
    Arrival& arrival(int source, int tag, std::size_t bytes, Arrival::Place place) {
        Arrival& made = arrivals.take();
        made.source = source;
        made.tag = tag;
        made.bytes = bytes;
        made.place = place;
        return made;
    }
};

} // namespace kumiki::message
