// How ranks learn that the manager of a lock has got notices that they lack (Locks::await_news).
#include <algorithm>

#include "dsm/locks.hpp"

namespace kumiki::dsm {

using fabric::MessageHeader;

// -- the rank that waits --

/// One thread of the rank asks, for all of them.
bool Locks::await_news(int lock, std::chrono::nanoseconds most) {
    if (Watch none = Watch::none; watch_.compare_exchange_strong(none, Watch::asked)) ask_for_news(manager_of(lock));
    fabric_.progress().wait_at_most(most, [this] { return watch_.load(std::memory_order_acquire) != Watch::asked; });
    Watch told = Watch::told;
    return watch_.compare_exchange_strong(told, Watch::none);
}

void Locks::ask_for_news(int manager) {
    MessageHeader request = header(Kind::watch);
    consistency_->with_history([&](const History& history) { request.offset = history.position(manager); });
    if (manager != fabric_.rank()) return send(manager, request, {});
    watch(fabric_.rank(), request.offset);
    send_news();
}

bool Locks::told_news() {
    Watch asked = Watch::asked;
    if (!watch_.compare_exchange_strong(asked, Watch::told, std::memory_order_release)) return false;
    fabric_.progress().ring(fabric_.rank());
    return true;
}

// -- the manager --

/// No news is missed: this stores the position and then reads the log under its lock, in tell_watchers(), and a thread
/// that makes the log longer does that under the same lock, and then loads the positions.
void Locks::watch(int rank, std::uint64_t position) {
    watchers_[static_cast<std::size_t>(rank)].store(position + 1, std::memory_order_release);
}

/// Calls tell(rank) for the other ranks that wait, where the log has got notices that are not their own. The exchange
/// decides which of several threads tells a rank.
template <class Tell>
void Locks::tell_watchers(Tell tell) {
    for (int rank = 0; rank < fabric_.size(); ++rank) {
        auto& watcher = watchers_[static_cast<std::size_t>(rank)];
        const std::uint64_t position = watcher.load(std::memory_order_acquire);
        if (position == 0 || !has_news(rank, position - 1)) continue;
        if (watcher.exchange(0, std::memory_order_acq_rel) == 0) continue;
        if (rank == fabric_.rank()) told_news();
        else tell(rank);
    }
}

void Locks::send_news() {
    tell_watchers([this](int rank) { send(rank, header(Kind::news), {}); });
}

void Locks::post_news() {
    tell_watchers([this](int rank) { fabric_.network()->post(rank, header(Kind::news)); });
}

bool Locks::has_news(int rank, std::uint64_t position) const {
    std::vector<Told> news;
    const auto read = area_at(fabric_.rank()).read(0, position, news);
    const auto by_others = [rank](const Told& told) { return told.writer != static_cast<std::uint32_t>(rank); };
    return !read.complete || std::ranges::any_of(news, by_others);
}

bool Locks::watched(const MessageHeader& header) {
    watch(header.source, header.offset);
    post_news();
    return true;
}

} // namespace kumiki::dsm
