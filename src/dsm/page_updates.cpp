// The protocol `update`: inside a barrier, the homes bring the copies of pages that have changed up to date
// (docs/decisions/shared-updates.md).
#include <algorithm>
#include <cstring>
#include <utility>

#include "dsm/courier.hpp"
#include "dsm/difference.hpp"
#include "dsm/packed_pages.hpp"
#include "dsm/pages.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

using platform::PageAccess;

// -- who holds a copy --

void Pages::forget_holders(std::size_t page) {
    pages_[page].sent = false;
    if (protocol() != SharedProtocol::update) return;
    holders(region_).clear(page);
}

/// Copies whose homes do not know of them must not stay.
void Pages::set_protocol(SharedProtocol protocol) {
    if (protocol == this->protocol()) return;
    change_runs(
        0, layout_.pages, PageAccess::read, PageAccess::none,
        [&](std::size_t page) { return !is_home(page) && is_copy(page); },
        [&](std::size_t page) { pages_[page].state = State::absent; });
    for (std::size_t page = 0; page < layout_.pages; ++page)
        if (is_home(page)) forget_holders(page);
    protocol_.store(protocol, std::memory_order_relaxed);
}

// -- at a barrier, when all differences have reached the homes --

/// All ranks know the same notices and homes, so a home sends a page to those that wait for it, or more. Pages whose
/// home is open or moves now are dropped instead.
void Pages::send_updates(std::uint64_t barrier) {
    changed_.take_runs([&](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page) {
            const HomeMoves::Said& there = moves_.said(page);
            const bool stays = !homes_.is_open(page) && !there.moved;
            // After a lock, others may have changed bytes that this rank had changed; and if these have the values of
            // the last update again, no difference says so.
            const bool told = std::exchange(pages_[page].told, false) && region_at(homes_.of(page)) == nullptr;
            if (is_home(page)) {
                if (stays) send_update(page, barrier);
            } else if (there.changed_by_others(fabric_.rank())) {
                if (stays && !told) update_copy(page);
                else invalidate(page, 1);
            }
        }
    });
    for (int rank = 0; rank < fabric_.size(); ++rank) send_updates_to(rank, barrier);
}

void Pages::send_updates_to(int rank, std::uint64_t barrier) {
    auto& packed = packed_[static_cast<std::size_t>(rank)];
    if (packed.empty()) return;
    courier_->send_updates(rank, number_, barrier, packed);
    packed.clear();
}

/// Sends a page of this home to the ranks of other hosts that have a copy; those of this host copy it themselves. A
/// rank that alone has changed the page has everything.
void Pages::send_update(std::size_t page, std::uint64_t barrier) {
    const HomeMoves::Said& there = moves_.said(page);
    bool held = false, all = true;
    std::span<const std::byte> contents;
    holders(region_).for_each(page, [&](int rank) {
        held = true;
        if (region_at(rank) != nullptr) return;
        if (!there.changed_by_several && there.changed_by == rank + 1) {
            all = false;
            return;
        }
        if (contents.data() == nullptr) contents = contents_for_holders(page);
        auto& packed = packed_[static_cast<std::size_t>(rank)];
        if (packed.size() + sizeof(PackedPage) + layout_.page_bytes > courier_->longest_message())
            send_updates_to(rank, barrier);
        append_head(packed, {page, contents.size()});
        packed.insert(packed.end(), contents.begin(), contents.end());
    });
    // A rank that is left out lacks changes that came after the barrier, and the next difference may not repeat them.
    if (contents.data() == nullptr || !all) pages_[page].sent = false;
    if (!held) open_again(page);
}

/// The page; or what has changed since all holders got it the last time, if nobody has fetched it since. At the home,
/// the twin is the contents that were sent last. A rank that has fetched the page may have done so after it left this
/// barrier: it passes over what it is sent now, and lacks changes that others have brought between its fetch and this
/// snapshot. So it does not count as a holder that has got the twin.
std::span<const std::byte> Pages::contents_for_holders(std::size_t page) {
    const bool open = pages_[page].state == State::open; // then its mark is for the next release
    const bool fetched_since = open || fetched(region_, page).exchange(0, std::memory_order_acq_rel) != 0;
    const bool whole = fetched_since || !pages_[page].sent;
    pages_[page].sent = !fetched_since;
    {
        // A rank that has left the barrier may release a lock, and bring differences meanwhile. They belong to the next
        // interval, in which the holders will learn of them.
        const platform::UnorderedReads unordered;
        const auto here = frame(page);
        snapshot_.assign(here.begin(), here.end());
    }
    snapshot_difference_.clear();
    if (!whole) pack_difference(snapshot_, twin(page), snapshot_difference_);
    std::ranges::copy(snapshot_, twin(page).begin());
    if (whole || snapshot_difference_.size() >= layout_.page_bytes * 3 / 4) return snapshot_;
    // Not null, even if nothing has changed: the holders wait for it.
    snapshot_difference_.reserve(layout_.page_bytes);
    return snapshot_difference_;
}

/// Nobody has a copy of this page of the home any more, so it need not be tracked. A rank that has left the barrier may
/// fetch it at this moment, though. It adds itself to the holders before it marks the page: either the mark is taken
/// away here, and then the holder is seen, or the mark stays.
void Pages::open_again(std::size_t page) {
    if (pages_[page].state != State::clean) return;
    lock(pages_[page]);
    pages_[page].state = State::open;
    change(page, 1, PageAccess::read, PageAccess::write);
    unlock(pages_[page]);
    fetched(region_, page).exchange(0, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (holders(region_).any(page)) mark_fetched(region_, page, 1);
}

/// Brings this rank's copy up to date, if it has one, or expects the contents. A copy that has become up to date for
/// nothing several times in a row is dropped: first the accesses to it become faults (State::parked), and if none comes
/// before the next update, the home is told that this rank has no copy any more.
void Pages::update_copy(std::size_t page) {
    Page& copy = pages_[page];
    const int home = homes_.of(page);
    std::byte* const there = region_at(home);
    if (copy.state == State::parked) {
        copy.state = State::absent;
        note_dropped(page);
        if (there != nullptr) holders(there).remove(page, fabric_.rank());
        else unwanted_[static_cast<std::size_t>(home)].push_back(page);
        return;
    }
    if (copy.state != State::clean) return;
    copy.streak = 0;
    if (++copy.idle >= copy.patience()) parking_.push_back(page);
    if (there != nullptr) {
        const platform::UnorderedReads unordered; // as in contents_for_holders()
        std::memcpy(frame(page).data(), frame_of(there, page).data(), layout_.page_bytes);
        count_update(layout_.page_bytes);
    } else {
        copy.fetch.store(Fetch::asked, std::memory_order_relaxed);
        ++expected_;
    }
}

void Pages::count_update(std::size_t bytes) {
    Counters::add(counters_.updates);
    Counters::add(counters_.update_bytes, bytes);
}

void Pages::await_updates(std::uint64_t barrier) {
    for (;;) {
        for (const auto& update : box_.take()) store(update, barrier);
        if (expected_ == 0) break;
        fabric_.progress().wait([this] { return !box_.is_empty(); }, fabric::Progress::Attention::network);
    }
    park();
    for (int home = 0; home < fabric_.size(); ++home)
        if (auto& pages = unwanted_[static_cast<std::size_t>(home)]; !pages.empty()) {
            courier_->tell_dropped(home, number_, pages);
            pages.clear();
        }
}

/// What is not expected is for a copy that this rank has dropped without telling the home.
void Pages::store(const UpdateBox::Update& update, std::uint64_t barrier) {
    for_each_packed_page(update.packed, layout_.pages,
                         [&](const PackedPage& entry, std::span<const std::byte> contents) {
                             Page& copy = pages_[entry.page];
                             const bool asked = copy.fetch.load(std::memory_order_relaxed) == Fetch::asked;
                             if (asked && update.barrier == barrier && homes_.of(entry.page) == update.source) {
                                 if (contents.size() == layout_.page_bytes)
                                     std::ranges::copy(contents, frame(entry.page).begin());
                                 else apply_difference(contents, frame(entry.page));
                                 copy.fetch.store(Fetch::idle, std::memory_order_relaxed);
                                 --expected_;
                                 count_update(contents.size());
                             } else if (!asked && copy.state == State::absent && !is_home(entry.page)) {
                                 unwanted_[static_cast<std::size_t>(update.source)].push_back(entry.page);
                             }
                             return true;
                         });
}

void Pages::park() {
    for (std::size_t at = 0; at < parking_.size();) {
        const std::size_t first = parking_[at];
        std::size_t end = first;
        while (at < parking_.size() && parking_[at] == end) ++at, pages_[end++].state = State::parked;
        change(first, end - first, PageAccess::read, PageAccess::none);
    }
    parking_.clear();
}

// -- for the courier --

bool Pages::take_update(int source, std::uint64_t barrier, std::span<const std::byte> packed) {
    const bool fits =
        for_each_packed_page(packed, layout_.pages, [&](const PackedPage&, std::span<const std::byte> contents) {
            return contents.size() == layout_.page_bytes || is_difference(contents, layout_.page_bytes);
        });
    return fits && box_.put({source, barrier, {packed.begin(), packed.end()}});
}

bool Pages::forget_holder(int rank, std::span<const std::byte> pages) {
    if (pages.size() % sizeof(std::uint64_t) != 0) return false;
    for (; !pages.empty(); pages = pages.subspan(sizeof(std::uint64_t))) {
        std::uint64_t page = 0;
        std::memcpy(&page, pages.data(), sizeof page);
        if (page >= layout_.pages) return false;
        holders(region_).remove(page, rank);
    }
    return true;
}

} // namespace kumiki::dsm
