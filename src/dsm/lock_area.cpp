#include "dsm/lock_area.hpp"

#include <mutex>

namespace kumiki::dsm {

bool LockArea::take(int lock, std::uint32_t rank) {
    Lock& here = at(lock);
    const std::lock_guard brief(here.busy);
    if (here.holder != 0) return false;
    here.holder = rank + 1;
    return true;
}

bool LockArea::take_or_queue(int lock, Waiter waiter, std::uint64_t position) {
    Lock& here = at(lock);
    const std::lock_guard brief(here.busy);
    if (here.holder == 0) {
        here.holder = waiter.rank + 1;
        return true;
    }
    link(waiter.number()) = {position, 0};
    if (here.first == 0) here.first = waiter.number() + 1;
    else link(here.last - 1).next = waiter.number() + 1;
    here.last = waiter.number() + 1;
    return false;
}

int LockArea::holder(int lock) {
    Lock& here = at(lock);
    const std::lock_guard brief(here.busy);
    return static_cast<int>(here.holder) - 1;
}

bool LockArea::pass(int lock, Next& next) {
    Lock& here = at(lock);
    const std::lock_guard brief(here.busy);
    if (here.first == 0) {
        here.holder = 0;
        return false;
    }
    const std::uint32_t number = here.first - 1;
    next = {Waiter::from(number), link(number).position};
    here.first = link(number).next;
    next.is_last = here.first == 0;
    here.holder = next.waiter.rank + 1;
    return true;
}

/// A notice of an earlier epoch is no news: the barrier has told it to all.
void LockArea::tell(std::uint64_t epoch, std::span<const Told> news) {
    NoticeLog& log = head().log;
    const std::lock_guard brief(head().log_busy);
    log.renew(epoch);
    if (epoch < log.epoch()) return;
    for (const Told& told : news) {
        if (told.number <= seen(told.writer)) continue;
        seen(told.writer) = told.number;
        log.append(told);
    }
}

void LockArea::tell_changed(std::uint64_t epoch, int rank, const Notice& notice) {
    NoticeLog& log = head().log;
    const std::lock_guard brief(head().log_busy);
    log.renew(epoch);
    const std::uint32_t writer = Told::writer_for_others(static_cast<std::size_t>(rank), ranks_);
    log.append({notice, ++seen(writer), writer});
}

LockArea::Read LockArea::read(std::uint64_t epoch, std::uint64_t position, std::vector<Told>& news) {
    NoticeLog& log = head().log;
    const std::lock_guard brief(head().log_busy);
    log.renew(epoch);
    const bool complete = log.since(position, news);
    return {log.end(), complete};
}

} // namespace kumiki::dsm
