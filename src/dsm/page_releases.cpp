// What a rank does with the pages that it has written when it releases them: differences to the homes, and notices.
#include <algorithm>
#include <bit>
#include <cstring>

#include "dsm/courier.hpp"
#include "dsm/difference.hpp"
#include "dsm/packed_pages.hpp"
#include "dsm/pages.hpp"

namespace kumiki::dsm {

using platform::PageAccess;

/// Adds a page to the last run, or begins another one.
void Pages::append(Notice::Kind kind, std::size_t page, std::vector<Notice>& notices) const {
    if (!notices.empty() && notices.back().array == number_ && notices.back().kind == kind &&
        notices.back().first + notices.back().count == page)
        ++notices.back().count;
    else notices.push_back({static_cast<std::uint16_t>(number_), kind, 1, page});
}

void Pages::announce(std::size_t page, Audience audience, std::vector<Notice>& notices) {
    Counters::add(counters_.notices);
    if (audience == Audience::acquirer) told_.add(page);
    append(Notice::Kind::changed, page, notices);
}

void Pages::release_to_all(Released& released, const void* stack) {
    std::vector<Notice>& notices = released.notices;
    const std::size_t before = notices.size();
    settle_all();
    told_.take_runs([&](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page) {
            pages_[page].told = protocol() == SharedProtocol::update;
            announce(page, Audience::all, notices);
        }
    });
    release_to(Audience::all, notices);
    accesses_.end(expects()); // the place of the next one is told after the barrier
    if (layout_.lends) review_lent(Audience::all, notices, &released.changes, stack);
    add_requests(before, notices);
}

void Pages::release_to(Audience audience, std::vector<Notice>& notices) {
    if (audience == Audience::acquirer) accesses_.release_at_lock();
    std::atomic_thread_fence(std::memory_order_seq_cst); // see mark_fetched()
    if (!tracked_) [[unlikely]]
        look_at_untracked(audience);
    protect_fetched(audience, notices);
    written_.take_runs([&](std::size_t begin, std::size_t end) { release_written(begin, end, audience, notices); });
    // After those: a page that was evicted while this thread waited for its lock is here.
    evicted_.take_runs([&](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page) announce(page, audience, notices);
    });
    if (check_ != nullptr && keeps_open_) [[unlikely]]
        note_open_pages();
    send_packed(audience);
}

/// In a barrier a message with notices follows at once.
void Pages::send_packed(Audience audience) {
    const auto departure = audience == Audience::all ? Courier::Departure::later : Courier::Departure::now;
    for (int rank = 0; rank < fabric_.size(); ++rank)
        if (auto& bytes = packed_[static_cast<std::size_t>(rank)]; !bytes.empty()) {
            courier_->send_differences(rank, number_, bytes, departure);
            bytes.clear();
        }
}

/// Announces the open pages that another rank has fetched, and detects their writes from now on. Those that were lent
/// are protected already, and were not written.
void Pages::protect_fetched(Audience audience, std::vector<Notice>& notices) {
    auto& news = reinterpret_cast<std::uint64_t&>(region_[layout_.news()]);
    if (std::atomic_ref(news).load(std::memory_order_relaxed) == 0) return;
    for (std::uint64_t parts = std::atomic_ref(news).exchange(0, std::memory_order_acq_rel); parts != 0;
         parts &= parts - 1) {
        const std::size_t begin = static_cast<std::size_t>(std::countr_zero(parts)) * layout_.blocks_in_part();
        const std::size_t end = std::min(begin + layout_.blocks_in_part(), layout_.blocks());
        for (std::size_t block = begin; block < end; ++block) {
            std::atomic_ref set(reinterpret_cast<std::uint8_t&>(region_[layout_.fetched_blocks() + block]));
            if (set.load(std::memory_order_relaxed) == 0 || set.exchange(0, std::memory_order_acquire) == 0) continue;
            const std::size_t first = block * Layout::block;
            protect_fetched(first, std::min(first + Layout::block, layout_.pages), audience, notices);
        }
    }
}

void Pages::protect_fetched(std::size_t first, std::size_t end, Audience audience, std::vector<Notice>& notices) {
    const auto is_fetched = [&](std::size_t page) {
        return fetched(region_, page).load(std::memory_order_relaxed) != 0;
    };
    for (std::size_t page = first; page < end;) {
        const auto [begin, count] = homes_.run_from(page, end, fabric_.rank());
        page = begin + count;
        if (!is_home(begin)) continue;
        if (keeps_open_) { // a page that is fetched again from now on is announced again
            for (std::size_t each = begin; each < page; ++each) {
                if (!is_fetched(each)) continue; // most of the block
                const std::uint8_t marks = fetched(region_, each).exchange(0, std::memory_order_acq_rel);
                const bool reviewed = layout_.lends && (marks & without_place) == 0 && lent(region_).has(each);
                if (!reviewed) announce(each, audience, notices);
            }
            continue;
        }
        const auto may_be_written = [&](std::size_t each) {
            State& state = pages_[each].state;
            if (state == State::lent) state = State::clean; // this release needs to do no more for it
            return is_fetched(each) && state == State::open;
        };
        change_runs(begin, page, PageAccess::write, PageAccess::read, may_be_written, [&](std::size_t each) {
            pages_[each].state = State::clean;
            announce(each, audience, notices);
        });
    }
}

/// Looks what this home has changed in pages that others have got, which never fault here. If it is little, all get it
/// at the barrier, and keep their copies. A page that nobody reads any more would be looked at for ever, so each is
/// announced after a number of releases; if it is fetched again, that number has been too small.
void Pages::review_lent(Audience audience, std::vector<Notice>& notices, std::vector<std::byte>* changes,
                        const void* stack) {
    constexpr std::size_t longest_change = 1024, longest_changes = 3072; // then a fetch is as good
    const std::size_t at =
        stack == nullptr ? layout_.frames() : static_cast<std::size_t>(static_cast<const std::byte*>(stack) - data_);
    const auto unused = [&](std::size_t page) {
        return at / layout_.page_bytes == page ? at % layout_.page_bytes / difference_line * difference_line : 0;
    };
    const auto used = [&](std::size_t page) { return std::span<const std::byte>(frame(page)).subspan(unused(page)); };
    lent(region_).review(layout_.page_bytes, used, [&](const LentPages::Lent& found) {
        using Change = LentPages::Change;
        const bool lasts = found.reviews < pages_[found.page].patience();
        const std::size_t bytes = found.difference.size();
        const bool fits = changes != nullptr && bytes <= longest_change &&
                          changes->size() + sizeof(PackedChange) + bytes <= longest_changes;
        if (!lasts) pages_[found.page].become_patient();
        if (!lasts || found.change == Change::unknown || (found.change == Change::some && !fits)) {
            announce(found.page, audience, notices);
            return LentPages::Then::forget;
        }
        if (found.change == Change::some) {
            const PackedChange head{static_cast<std::uint16_t>(number_), static_cast<std::uint16_t>(bytes),
                                    static_cast<std::uint32_t>(unused(found.page)), found.page};
            const auto* const begin = reinterpret_cast<const std::byte*>(&head);
            changes->insert(changes->end(), begin, begin + sizeof head);
            changes->insert(changes->end(), found.difference.begin(), found.difference.end());
        }
        return LentPages::Then::keep;
    });
}

/// A home may have told what another rank was bringing when it compared. Then that rank has announced the page, whose
/// other copies are about to be dropped; its own may be newer than the change. (The number of changes is small, and for
/// each notice the others make a system call: no index is needed.)
void Pages::take_changes(const Arrays& arrays, std::span<const std::byte> changes, std::span<const Notice> own) {
    while (changes.size() >= sizeof(PackedChange)) {
        PackedChange head{};
        std::memcpy(&head, changes.data(), sizeof head);
        changes = changes.subspan(sizeof head);
        if (head.bytes > changes.size()) return;
        const auto bytes = changes.first(head.bytes);
        changes = changes.subspan(head.bytes);
        Pages* const array = arrays.find(head.array);
        if (array == nullptr || !array->layout_.lends) continue;
        if (std::ranges::any_of(own, [&](const Notice& notice) {
                return notice.array == head.array && notice.first <= head.page &&
                       head.page - notice.first < notice.count;
            }))
            array->invalidate(head.page, 1);
        else array->take_change(head.page, head.skipped, bytes);
    }
}

void Pages::take_change(std::size_t page, std::size_t skipped, std::span<const std::byte> difference) {
    if (page >= layout_.pages || skipped > layout_.page_bytes) return;
    lock(pages_[page]);
    if (is_copy(page) && !is_home(page)) {
        apply_difference(difference, frame(page).subspan(skipped));
        count_update(difference.size());
    }
    unlock(pages_[page]);
}

/// Handles pages that have been written and that have one home or several. At a barrier, pages that are only touched
/// wait until their home is decided.
void Pages::release_written(std::size_t first, std::size_t end, Audience audience, std::vector<Notice>& notices) {
    const auto is_written = [&](std::size_t page) {
        const State state = pages_[page].state;
        return state == State::written || (state == State::touched && audience == Audience::acquirer);
    };
    for (std::size_t page = first; page < end;) {
        const auto [begin, count] = homes_.run_from(page, end, fabric_.rank());
        page = begin + count;
        if (!is_home(begin)) {
            change_runs(
                begin, page, PageAccess::write, PageAccess::read, is_written,
                [&](std::size_t each) {
                    pages_[each].state = State::clean;
                    if (send_difference(each)) announce(each, audience, notices);
                },
                // Another thread may evict these copies now. What it then fetches must have their changes.
                [&] {
                    if (cache_.is_bounded()) send_packed(audience);
                });
        } else if (protocol() == SharedProtocol::update || check_ != nullptr) {
            // The home's writes must be seen.
            change_runs(begin, page, PageAccess::write, PageAccess::read, is_written, [&](std::size_t each) {
                pages_[each].state = State::clean;
                if (check_ != nullptr) [[unlikely]]
                    note_written_at_home(each);
                announce(each, audience, notices);
            });
        } else release_own(begin, page, is_written, audience, notices);
    }
}

/// Pages of which this rank is the home. After a barrier nobody has a copy any more. After the release of a lock others
/// may have one; but they drop it before they see what the home writes from now on, because by then they have got this
/// notice, too, and a later fetch marks the page. A page that somebody has fetched since it was announced last will
/// probably be fetched again, so it stays protected: as an open page it would be announced after that fetch once more,
/// because its home may have written to it. The mark of a fetch that comes right now may be lost here; what it fetches
/// is older than the notice.
template <class Written>
void Pages::release_own(std::size_t first, std::size_t end, Written is_written, Audience audience,
                        std::vector<Notice>& notices) {
    const auto is_wanted = [&](std::size_t page) {
        return fetched(region_, page).load(std::memory_order_relaxed) != 0;
    };
    for (std::size_t page = first; page < end;) {
        const std::size_t begin = page;
        const bool wanted = is_wanted(begin);
        while (page < end && is_wanted(page) == wanted) ++page;
        const auto announce_as = [&](State state, std::size_t each) {
            fetched(region_, each).store(0, std::memory_order_relaxed);
            pages_[each].state = state;
            announce(each, audience, notices);
        };
        if (wanted)
            change_runs(begin, page, PageAccess::write, PageAccess::read, is_written,
                        [&](std::size_t each) { announce_as(State::clean, each); });
        for (std::size_t each = begin; each < page && !wanted; ++each) {
            lock(pages_[each]);
            if (is_written(each)) announce_as(State::open, each);
            unlock(pages_[each]);
        }
    }
}

/// Returns false when the page has been written, but not changed.
bool Pages::send_difference(std::size_t page, std::vector<std::byte>& packed) {
    const int home = homes_.of(page);
    const std::vector<PlacedChange> gathered = gathered_.take(page);
    send_gathered(page, gathered, packed);
    std::size_t differing = 0;
    if (check_ != nullptr) [[unlikely]]
        note_written(page);
    std::byte* const there = region_at(home);
    if (there != nullptr && check_ == nullptr) {
        differing = copy_difference(frame(page), twin(page), frame_of(there, page));
        if (layout_.lends) lent(there).overwrite(page);
    } else if (there != nullptr) {
        std::vector<std::byte> difference;
        differing = pack_difference(frame(page), twin(page), difference);
        merge(there, page, difference);
    } else {
        if (packed.size() + sizeof(PackedPage) + longest_difference(layout_.page_bytes) > courier_->longest_message()) {
            courier_->send_differences(home, number_, packed);
            packed.clear();
        }
        const std::size_t begin = packed.size();
        packed.resize(begin + sizeof(PackedPage));
        differing = pack_difference(frame(page), twin(page), packed);
        const PackedPage entry{page, packed.size() - begin - sizeof(PackedPage)};
        if (differing == 0) packed.resize(begin);
        else std::memcpy(&packed[begin], &entry, sizeof entry);
    }
    for (const PlacedChange& each : gathered) differing += each.change.bytes;
    if (differing == 0) {
        accesses_.note_unchanged(page);
        return false;
    }
    if (log_) [[unlikely]] {
        auto changed = explain::PageBytes::differing(frame(page), twin(page));
        for (const PlacedChange& each : gathered) changed.include(each.offset, each.change.bytes);
        log_.differed(page * layout_.page_bytes, changed, differing);
    }
    Counters::add(counters_.differences);
    Counters::add(counters_.difference_bytes, differing);
    return true;
}

} // namespace kumiki::dsm
