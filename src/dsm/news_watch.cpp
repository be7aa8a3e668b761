// How ranks learn that the manager of a lock has got notices that they lack (Locks::await_news).
#include "dsm/locks.hpp"

namespace kumiki::dsm {

using fabric::MessageHeader;

// -- the rank that waits --

/// One thread of the rank asks, and one takes in what has come, for all of them.
bool Locks::await_news(int lock, std::chrono::nanoseconds most) {
    const int manager = manager_of(lock);
    if (Watch none = Watch::none; watch_.compare_exchange_strong(none, Watch::asked)) ask_for_news(manager);
    fabric_.progress().wait_at_most(most, [this] { return watch_.load(std::memory_order_acquire) != Watch::asked; });
    if (Watch told = Watch::told; !watch_.compare_exchange_strong(told, Watch::taking)) return false;
    if (manager == fabric_.rank()) read_log(manager);
    else take_in(manager, told_);
    watch_.store(Watch::none, std::memory_order_release);
    return true;
}

void Locks::ask_for_news(int manager) {
    MessageHeader request = header(Kind::watch);
    consistency_->with_history([&](const History& history) { request.offset = history.position(manager); });
    if (manager != fabric_.rank()) return send(manager, request, {});
    watch(fabric_.rank(), request.offset);
    tell_watchers([](int, const Outgoing&) {});
}

bool Locks::told_news(const MessageHeader& header, std::span<const std::byte> payload) {
    if (watch_.load(std::memory_order_relaxed) != Watch::asked || !unpack(header, payload, told_)) return false;
    watch_told();
    return true;
}

void Locks::watch_told() {
    watch_.store(Watch::told, std::memory_order_release);
    fabric_.progress().ring(fabric_.rank());
}

// -- the manager --

/// No news is missed: this stores the position and then reads the log under its lock, in tell_watchers(), and whoever
/// makes the log longer does that under the same lock, and then loads the positions.
void Locks::watch(int rank, std::uint64_t position) {
    watchers_[static_cast<std::size_t>(rank)].store(position + 1, std::memory_order_release);
}

/// Tells the ranks that wait for what the log has got. The exchange decides which of several threads tells a rank.
void Locks::tell_watchers(const std::function<void(int rank, Outgoing)>& tell) {
    for (int rank = 0; rank < fabric_.size(); ++rank) {
        auto& watcher = watchers_[static_cast<std::size_t>(rank)];
        const std::uint64_t position = watcher.load(std::memory_order_acquire);
        if (position == 0) continue;
        Outgoing outgoing = news_since(position - 1);
        const bool complete = outgoing.header.signal != 0;
        std::erase_if(outgoing.news,
                      [rank](const Told& told) { return told.writer == static_cast<std::uint32_t>(rank); });
        if (complete && outgoing.news.empty()) continue;
        if (watcher.exchange(0, std::memory_order_acq_rel) == 0) continue;
        if (rank == fabric_.rank()) watch_told();
        else tell(rank, std::move(outgoing));
    }
}

Locks::Outgoing Locks::news_since(std::uint64_t position) const {
    Outgoing outgoing{header(Kind::news), {}};
    const auto read = area_at(fabric_.rank()).read(0, position, outgoing.news);
    outgoing.header.offset = read.end;
    outgoing.header.signal = read.complete ? 1 : 0;
    return outgoing;
}

} // namespace kumiki::dsm
