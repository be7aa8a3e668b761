// Homes that move: pages whose home is open, and pages that follow the rank that writes to them
// (docs/decisions/shared-homes.md).
#include <algorithm>
#include <utility>

#include "dsm/courier.hpp"
#include "dsm/difference.hpp"
#include "dsm/pages.hpp"
#include "platform/memory.hpp"

namespace kumiki::dsm {

using platform::PageAccess;

// -- what this rank has touched --

/// At first nothing is tracked, so that the program touches the pages at the speed of the system.
Result<> Pages::start_by_touch() {
    const bool managed = homes_.placement() == Placement::managed;
    for (std::size_t page = 0; page < layout_.pages && managed; ++page) pages_[page].state = State::absent;
    tracked_ = managed;
    // The memory may have been allocated at once (KUMIKI_PIN).
    find_data([&](std::size_t, std::size_t) { tracked_ = true; });
    if (!tracked_) return {};
    return faults_->guard(0, layout_.frames());
}

/// Some pages have contents already, and some perhaps a home, so the first access to each is noticed by its fault. Open
/// pages with contents are as after open_homes(); the others are zeros at every rank.
Result<> Pages::start_with_open_homes() {
    for (std::size_t page = 0; page < layout_.pages; ++page)
        if (homes_.is_open(page)) pages_[page].state = State::untouched;
        else pages_[page].state = is_home(page) ? State::open : State::absent;
    find_data([&](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page)
            if (homes_.is_open(page)) pages_[page].state = is_home(page) ? State::clean : State::absent;
    });
    return faults_->guard(0, layout_.frames());
}

void Pages::note_touch(std::size_t page) {
    if (is_open_to_touch(page)) touched_.add(page);
}

/// Memory that nobody has touched is a hole in its file. Returns whether there is any other. While the home of a page
/// is open, others may have brought changes to where it stands in; that rank then takes them for a touch of its own,
/// because it could not tell if it had written to the page besides.
bool Pages::find_touched() {
    bool anything = false;
    find_data([&](std::size_t begin, std::size_t end) {
        anything = true;
        for (std::size_t page = begin; page < end; ++page) {
            if (!homes_.is_open(page)) continue;
            lock(pages_[page]);
            if (pages_[page].state == State::untouched) {
                pages_[page].state = State::touched;
                touched_.add(page);
                written_.add(page);
            }
            unlock(pages_[page]);
        }
    });
    return anything;
}

void Pages::follow() {
    if (const auto followed = faults_->follow(0, layout_.frames()); !followed) give_up(followed.error());
}

/// From now on the first access to a page is a fault. Other threads of this rank may access pages meanwhile: what they
/// touch before is found, and what they touch after faults.
void Pages::track() {
    follow();
    change(0, layout_.pages, PageAccess::write, PageAccess::none);
    find_touched();
    tracked_.store(true, std::memory_order_release); // gather_change() expects that pages fault
}

/// A release to one rank must not leave anything behind that it has no notice of, and pages that others have fetched
/// must be protected. At a barrier all ranks learn at once who has touched what.
void Pages::look_at_untracked(Audience audience) {
    auto& news = reinterpret_cast<std::uint64_t&>(region_[layout_.news()]);
    const bool fetched = std::atomic_ref(news).load(std::memory_order_relaxed) != 0;
    if ((find_touched() && audience == Audience::acquirer) || fetched) track();
}

/// Adds what this rank has touched; and the pages that it has changed, according to the notices from `begin` on, and
/// that should move here. One interval without other writers is not enough: pages that are initialized by one rank do
/// not belong to it for ever, and a page must not move back and forth.
void Pages::add_requests(std::size_t begin, std::vector<Notice>& notices) {
    std::vector<Notice> requests;
    touched_.take_runs([&](std::size_t first, std::size_t end) {
        for (std::size_t page = first; page < end; ++page) {
            if (!homes_.is_open(page)) continue;
            const bool here = is_home(page) || pages_[page].state != State::absent;
            append(here ? Notice::Kind::touched : Notice::Kind::touched_once, page, requests);
        }
    });
    if (homes_.placement() == Placement::relocated || homes_.placement() == Placement::first)
        for (const Notice& notice : std::span(notices).subspan(begin))
            for (std::size_t page = notice.first; page < notice.first + notice.count; ++page) {
                constexpr int enough = 2;
                Page& here = pages_[page];
                if (!here.follows || is_home(page) || homes_.is_open(page) || here.state != State::clean) continue;
                if (++here.streak >= enough) append(Notice::Kind::wanted, page, requests);
            }
    notices.insert(notices.end(), requests.begin(), requests.end());
}

// -- at a barrier --

Pages::Moving Pages::learn(std::span<const std::vector<Notice>> told) {
    return moves_.decide(homes_, told, protocol() == SharedProtocol::update ? &changed_ : nullptr);
}

/// The old home has everything that has been released. What this rank has touched and not released stays on top.
void Pages::fetch_moved() {
    for (const HomeMoves::Move& move : moves_.moves()) {
        if (!move.fetch || move.to != fabric_.rank()) continue;
        for (std::size_t page = move.first; page < move.first + move.count; ++page) {
            std::vector<std::byte> own;
            if (pages_[page].state == State::touched) pack_difference(frame(page), twin(page), own);
            fetch(page, 1);
            apply_difference(own, frame(page));
        }
    }
}

/// A rank that has left the barrier may fetch a page from its new home while that one is still here: what it fetches is
/// there, and its mark stays. And this rank's agent may lend pages at the same time, and protect them for that.
void Pages::finish_moves(bool ends_alone) {
    if (moves_.moves().empty()) return;
    const bool begins = !tracked_;
    if (begins) follow();
    for (const HomeMoves::Move& move : moves_.moves())
        for (std::size_t page = move.first; page < move.first + move.count; ++page) {
            if (homes_.is_open(page)) pages_[page].follows = ends_alone || homes_.placement() == Placement::relocated;
            homes_.decide(page, move.to);
        }
    for (const std::size_t page : moves_.lost())
        if (pages_[page].state == State::touched) send_difference(page);
    send_packed(Audience::acquirer); // at once: nothing follows them
    for (const HomeMoves::Move& move : moves_.moves()) finish(move);
    if (begins) drop_untouched();
    tracked_.store(true, std::memory_order_release);
}

void Pages::finish(const HomeMoves::Move& move) {
    const std::size_t end = move.first + move.count;
    if (move.to != fabric_.rank()) {
        const auto all = [](std::size_t) { return true; };
        change_runs(move.first, end, PageAccess::write, PageAccess::none, all, [&](std::size_t page) {
            pages_[page].state = State::absent;
            pages_[page].streak = 0;
            if (move.from != fabric_.rank()) return;
            fetched(region_, page).store(0, std::memory_order_relaxed);
            forget_holders(page);
        });
        for (std::size_t page = move.first; page < end && cache_.is_bounded(); ++page) give_back(page);
    } else {
        if (move.from != fabric_.rank()) Counters::add(counters_.moves, move.count);
        if (log_) [[unlikely]]
            log_.became_home(move.first * layout_.page_bytes, move.count);
        const auto open = [this](std::size_t page) {
            pages_[page].state = State::open;
            // A thread that released a lock meanwhile may have taken the block's mark, and passed over this page.
            if (fetched(region_, page).load(std::memory_order_relaxed) != 0) mark_fetched(region_, page, 1);
        };
        bool others = false; // pages that are not just touched, as in a fresh array
        for (std::size_t page = move.first; page < end; ++page) {
            lock(pages_[page]);
            if (pages_[page].state == State::touched) open(page);
            else others = true;
            Turn(fabric_, pages_[page].locked).unlock_quietly();
        }
        fabric_.progress().ring(fabric_.rank());
        if (!others) return;
        const auto is = [this](State state) {
            return [this, state](std::size_t page) { return pages_[page].state == state; };
        };
        change_runs(move.first, end, PageAccess::read, PageAccess::write, is(State::clean), open);
        change_runs(move.first, end, PageAccess::none, PageAccess::write, is(State::parked), open);
        change_runs(move.first, end, PageAccess::none, PageAccess::write, is(State::absent), open); // just fetched
    }
}

/// Nobody has touched these pages, and the next touch of one must be noticed. Nobody else uses the array meanwhile.
void Pages::drop_untouched() {
    for (std::size_t page = 0; page < layout_.pages; ++page) {
        const std::size_t begin = page;
        while (page < layout_.pages && homes_.is_open(page)) ++page;
        if (page > begin) change(begin, page - begin, PageAccess::write, PageAccess::none);
    }
}

/// At the home, too, a page is protected: not because of its mark, which would announce it although nobody has written,
/// but as if somebody had a copy. So its writes are noticed.
void Pages::open_homes(std::size_t first, std::size_t count) {
    if (!tracked_) return; // nobody has touched the array
    follow();
    for (std::size_t page = first; page < first + count; ++page) {
        if (homes_.is_open(page)) continue;
        homes_.open(page, 1);
        if (is_home(page)) forget_holders(page);
        pages_[page].state = is_home(page) ? State::clean : State::absent;
        pages_[page].streak = 0;
    }
    change(first, count, PageAccess::write, PageAccess::none);
}

// -- homes that a manager gives --

/// The paper's protocol: the first touch asks the manager, which tells every rank the same home.
int Pages::ask_manager(std::size_t page) {
    constexpr int manager = 0;
    Counters::add(counters_.requests);
    if (std::byte* const there = region_at(manager)) return give_home(there, page, fabric_.rank());
    Page& here = pages_[page];
    here.fetch.store(Fetch::asked, std::memory_order_relaxed);
    courier_->ask_home(manager, number_, page);
    fabric_.progress().wait([&here] { return here.fetch.load(std::memory_order_acquire) == Fetch::here; },
                            fabric::Progress::Attention::network);
    here.fetch.store(Fetch::idle, std::memory_order_relaxed);
    return homes_.of(page);
}

int Pages::give_home(std::byte* region, std::size_t page, int rank) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(region + layout_.given());
    std::uint32_t given = 0;
    const auto wanted = static_cast<std::uint32_t>(rank + 1);
    return std::atomic_ref(words[page]).compare_exchange_strong(given, wanted) ? rank : static_cast<int>(given) - 1;
}

int Pages::home_for(std::size_t page, int rank) { return page < layout_.pages ? give_home(region_, page, rank) : -1; }

bool Pages::take_home(std::size_t page, std::uint64_t home) {
    if (page >= layout_.pages || home >= static_cast<std::uint64_t>(fabric_.size())) return false;
    Page& here = pages_[page];
    if (here.fetch.load(std::memory_order_relaxed) != Fetch::asked) return false;
    homes_.decide(page, static_cast<int>(home));
    here.fetch.store(Fetch::here, std::memory_order_release);
    return true;
}

} // namespace kumiki::dsm
