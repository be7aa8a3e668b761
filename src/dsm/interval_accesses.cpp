#include "dsm/interval_accesses.hpp"

#include <utility>

namespace kumiki::dsm {

/// A page that was fetched before in this interval is needed when it begins. Of another one, what is fetched after the
/// lock tells nothing about that.
void IntervalAccesses::lose_at_lock(std::size_t page) {
    if (!missed_.contains(page)) lost_at_locks_.add(page);
}

void IntervalAccesses::release_at_lock() {
    if (!written_before_lock_) written_before_lock_ = noticed_.take();
}

const IntervalAccesses::Accesses* IntervalAccesses::begin(Visit visit) {
    const std::lock_guard turn(turn_);
    const Accesses* const expected = history_.begin(visit);
    searches_.store(history_.searches(), std::memory_order_relaxed);
    return expected;
}

std::optional<IntervalAccesses::Accesses> IntervalAccesses::search(std::size_t page) {
    if (!searches_.load(std::memory_order_relaxed)) return {};
    const std::lock_guard turn(turn_);
    const Accesses* const found = history_.fault(page);
    searches_.store(history_.searches(), std::memory_order_relaxed);
    if (found == nullptr) return {};
    return *found;
}

void IntervalAccesses::end(bool learns) {
    const AccessHistory::PageList dropped = lost_at_locks_.take();
    Accesses faulted{.fetched = missed_.take(), .written = noticed_.take()};
    if (auto before = std::exchange(written_before_lock_, {})) faulted.written = std::move(*before);
    const std::size_t unchanged = unchanged_.exchange(0, std::memory_order_relaxed);
    if (!learns) return;
    const std::lock_guard turn(turn_);
    searches_.store(false, std::memory_order_relaxed);
    history_.end(std::move(faulted), dropped, unchanged);
}

} // namespace kumiki::dsm
