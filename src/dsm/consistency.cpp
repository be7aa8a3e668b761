#include "dsm/consistency.hpp"

#include <algorithm>

namespace kumiki::dsm {

void Consistency::publish() {
    std::vector<Notice> own;
    history_.begin_step();
    arrays_.any([&own](Pages& array) {
        if (!array.is_retired()) array.release(own);
        return false;
    });
    if (courier_ != nullptr) courier_->await_applied();
    if (check_ != nullptr) [[unlikely]]
        check_->end_interval();
    for (const Notice& notice : own) history_.announce(notice);
}

/// Returns what this rank has announced itself, because it had to drop copies that it had written.
std::vector<Notice> Consistency::apply(std::span<const Told> news, bool complete) {
    std::vector<Notice> own;
    history_.begin_step();
    if (!complete) {
        invalidate(Notice::everything(), own);
        history_.announce(Notice::everything()); // before the others, some of whose forerunners it stands for
    }
    if (!news.empty() || !complete) forget_early();
    for (const Told& told : news)
        if (history_.learn(told) && complete) invalidate(told.notice, own);
    for (const Notice& notice : own) history_.announce(notice);
    return own;
}

bool Consistency::may_come(const PageName& page, int manager) const {
    const Pages* const array = arrays_.find(page.array);
    return array != nullptr && !array->is_retired() && array->may_come(page.page, manager);
}

/// The page lacks what this rank had written to its copy before it dropped that.
void Consistency::store(const SentPage& sent, std::span<const Notice> own) {
    const auto has_page = [&sent](const Notice& notice) {
        return notice.kind == Notice::Kind::everything || notice.covers(sent.name.array, sent.name.page);
    };
    Pages* const array = arrays_.find(sent.name.array);
    if (array == nullptr || array->is_retired() || std::ranges::any_of(own, has_page)) return;
    array->store(sent.name.page, sent.contents, sent.origin);
}

Consistency::LentPage Consistency::lend(const PageName& page, int rank, std::span<const Told> news) const {
    const auto has_page = [&page](const Told& told) { return told.notice.covers(page.array, page.page); };
    Pages* const array = arrays_.find(page.array);
    if (array == nullptr || !array->has({page.page, 1}) || std::ranges::none_of(news, has_page) ||
        news.size_bytes() + array->layout().page_bytes > courier_->longest_message())
        return {};
    array->protect_open({page.page, 1});
    LentPage lent{std::vector<std::byte>(array->layout().page_bytes)};
    lent.unreleased = array->lend_copy(page.page, rank, lent.contents.data());
    return lent;
}

/// Appends the pages whose changes had to be brought to their homes first to `own`.
void Consistency::invalidate(const Notice& notice, std::vector<Notice>& own) {
    const auto drop = [&own](Pages& array, std::uint64_t first, std::uint64_t count) {
        if (!array.is_retired()) array.invalidate_at_lock(first, count, own);
    };
    if (notice == Notice::everything())
        arrays_.any([&drop](Pages& array) {
            drop(array, 0, array.layout().pages);
            return false;
        });
    else if (Pages* const array = arrays_.find(notice.array)) drop(*array, notice.first, notice.count);
}

std::optional<Consistency::Changed> Consistency::change_word(const WordRequest& request) const {
    Pages* const array = arrays_.find(request.array);
    if (array == nullptr) return {};
    const auto before = array->change_word(request.offset, request.change);
    if (!before) return {};
    return Changed{*before,
                   {static_cast<std::uint16_t>(request.array), Notice::Kind::changed, 1,
                    request.offset / array->layout().page_bytes}};
}

Released Consistency::release_to_all(std::uint64_t barrier, WrittenWords* words, const void* stack) {
    const std::lock_guard turn(turn_);
    Released own;
    giving_back([&] {
        arrays_.any([&own, stack](Pages& array) {
            array.release_to_all(own, stack);
            return false;
        });
        if (words != nullptr && !(own.notices.empty() && own.changes.empty())) words->set(barrier);
        if (courier_ != nullptr) courier_->await_applied();
    });
    if (check_ != nullptr) [[unlikely]]
        check_->end_epoch();
    return own;
}

Pages::Moving Consistency::acquire_from_all(std::uint64_t barrier, std::span<const std::vector<Notice>> told) {
    const std::lock_guard turn(turn_);
    for (std::size_t rank = 0; rank < told.size(); ++rank) {
        if (rank == history_.rank()) continue;
        for (const Notice& notice : told[rank])
            if (Pages* const array = arrays_.find(notice.array);
                array && notice.kind == Notice::Kind::changed && array->protocol() == SharedProtocol::invalidate)
                array->invalidate(notice.first, notice.count);
    }
    history_.begin_epoch();
    Pages::Moving moving;
    arrays_.any([&](Pages& array) {
        const Pages::Moving here = array.learn(told);
        moving = {moving.fetches || here.fetches, moving.collide || here.collide};
        array.send_updates(barrier);
        return false;
    });
    arrays_.any([&](Pages& array) { // after all have been sent
        array.await_updates(barrier);
        return false;
    });
    return moving;
}

void Consistency::take_changes(std::span<const std::span<const std::byte>> told, std::span<const Notice> own) {
    const std::lock_guard turn(turn_);
    for (std::size_t rank = 0; rank < told.size(); ++rank)
        if (rank != history_.rank()) Pages::take_changes(arrays_, told[rank], own);
}

void Consistency::request_early(std::uint64_t barrier) {
    if (courier_ == nullptr) return;
    const std::lock_guard turn(turn_);
    const auto visit = places_.next();
    if (!visit) return forget_early();
    arrays_.any([&](Pages& array) {
        array.request_early(*visit, barrier);
        return false;
    });
}

void Consistency::forget_early() {
    arrays_.any([](Pages& array) {
        array.forget_early();
        return false;
    });
}

void Consistency::begin_interval(std::uint64_t place) {
    const std::lock_guard turn(turn_);
    const Visit visit = places_.add(place);
    arrays_.any([visit](Pages& array) {
        array.expect(visit);
        return false;
    });
    arrays_.any([](Pages& array) { // after all requests have left
        array.open_expected();
        return false;
    });
}

void Consistency::fetch_moved() {
    const std::lock_guard turn(turn_);
    arrays_.any([](Pages& array) {
        array.fetch_moved();
        return false;
    });
}

void Consistency::finish_moves(bool ends_alone) {
    const std::lock_guard turn(turn_);
    arrays_.any([ends_alone](Pages& array) {
        array.finish_moves(ends_alone);
        return false;
    });
    if (courier_ != nullptr) courier_->await_applied();
}

} // namespace kumiki::dsm
