// Words that are changed at their home, for another rank, while it would have had a lock: one message and its answer,
// where the lock, the page and its difference would be three.
#include <cstring>

#include "dsm/locks.hpp"

namespace kumiki::dsm {

using fabric::MessageHeader;
using Answer = LockArea::Answer;

// -- the rank that wants the change --

/// The change comes after everything that this rank has released, as behind an acquisition of the lock, and what the
/// manager's log has got up to the change concerns this rank. That includes the notice of the change itself: this
/// rank's copy of the page is as old as everybody's.
std::optional<std::uint64_t> Locks::change_word(int lock, Pages& array, const WordRequest& wanted) {
    const int manager = manager_of(lock);
    const Place place(*this);
    // One thread at a time sends, as in release().
    consistency_->release([&](History& history) {
        MessageHeader request = header(Kind::change);
        request.value = static_cast<std::uint64_t>(lock);
        request.ticket = place.number();
        request.offset = history.position(manager);
        request.signal = history.epoch();
        const std::vector<Told> news = history.news_for(manager);
        std::vector<std::byte> payload(sizeof wanted);
        std::memcpy(payload.data(), &wanted, sizeof wanted);
        const auto told = std::as_bytes(std::span(news));
        payload.insert(payload.end(), told.begin(), told.end());
        send(manager, request, payload);
    });
    if (await(place) == Answer::refused) return {};
    consistency_->acquire([&](History& history, std::vector<Told>& news) {
        array.announce_at_barrier(wanted.offset / array.layout().page_bytes);
        return take_in(place, manager, history, news);
    });
    return arrivals_[place.number()].before;
}

// -- its home, which is the manager of the lock --

/// As between acquire() and release(), so the threads that it passes the lock on to learn of the change by the log.
std::uint64_t Locks::change_own_word(int lock, Pages& array, const WordRequest& wanted) {
    LockArea area = area_at(fabric_.rank());
    take_here(lock, area);
    read_log(fabric_.rank(), no_lock);
    const std::uint64_t before = array.change_own_word(wanted.offset, wanted.change);
    consistency_->release([&](History& history) {
        const std::uint64_t page = wanted.offset / array.layout().page_bytes;
        array.announce_at_barrier(page);
        area.tell(history.epoch(), history.news_for(fabric_.rank()));
        area.tell_changed(history.epoch(), fabric_.rank(),
                          {static_cast<std::uint16_t>(wanted.array), Notice::Kind::changed, 1, page});
    });
    send_news();
    pass_on(lock, area);
    return before;
}

/// Like asked(), but the rank gets the lock only for this change. Where ranks of this host share the locks that this
/// one manages, one of them might have to make the change, which has none of what this process knows of it.
bool Locks::asked_to_change(const MessageHeader& header, std::span<const std::byte> payload) {
    if (header.value >= KUMIKI_SHARED_LOCKS || header.ticket >= Waiter::places) return false;
    const auto lock = static_cast<int>(header.value);
    const Waiter waiter{static_cast<std::uint32_t>(header.source), static_cast<std::uint32_t>(header.ticket)};
    Wanted& wanted = wanted_[waiter.number()];
    std::vector<Told> news;
    if (manager_of(lock) != fabric_.rank() || payload.size() < sizeof wanted.request ||
        !unpack(payload.subspan(sizeof wanted.request), news))
        return false;
    LockArea area = area_at(fabric_.rank());
    area.tell(header.signal, news);
    post_news();
    if (fabric_.everybody().host_size() > 1) {
        post(header.source, answer_for({waiter, 0}, 0, area, Answer::refused));
        return true;
    }
    std::memcpy(&wanted.request, payload.data(), sizeof wanted.request);
    wanted.epoch = header.signal;
    wanted.is_change = true;
    wanted.page = 0;
    if (!area.take_or_queue(lock, waiter, header.offset)) return true;
    post(header.source, change({waiter, header.offset}, area));
    pass_on(lock, area, header.signal, [this](int rank, Outgoing outgoing) { post(rank, std::move(outgoing)); });
    return true;
}

/// Makes the change that this waiter wants; it has the lock. Returns the answer. The log gets the notice before the
/// lock is passed on, and after the change: a rank that reads it, and fetches the page, gets the word as it is now.
Locks::Outgoing Locks::change(const LockArea::Next& next, LockArea area) {
    Wanted& wanted = wanted_[next.waiter.number()];
    wanted.is_change = false;
    const auto changed = consistency_->change_word(wanted.request);
    if (!changed) return answer_for(next, 0, area, Answer::refused);
    area.tell_changed(wanted.epoch, fabric_.rank(), changed->notice);
    Outgoing outgoing = answer_for(next, wanted.epoch, area, Answer::granted);
    outgoing.header.bytes = changed->before;
    return outgoing;
}

} // namespace kumiki::dsm
