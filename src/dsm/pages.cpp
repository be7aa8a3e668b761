#include "dsm/pages.hpp"

#include <cstring>
#include <utility>

#include "dsm/courier.hpp"
#include "dsm/difference.hpp"
#include "dsm/packed_pages.hpp"
#include "dsm/turn.hpp"

namespace kumiki::dsm {

using platform::Attempt;
using platform::PageAccess;

Pages::Pages(fabric::Fabric& fabric, Courier* courier, CopyCache& cache, std::uint32_t number, Place place,
             Layout layout, Homes homes, std::unique_ptr<platform::PageFaults> faults)
    : PageMemory(fabric, place, layout, std::move(faults)),
      courier_(courier),
      cache_(cache),
      number_(number),
      homes_(std::move(homes)),
      accesses_(layout.pages),
      unawaited_(layout.pages),
      early_(4 * layout.bytes()),
      written_(layout.pages),
      evicted_(layout.pages),
      told_(layout.pages),
      touched_(layout.pages),
      moves_(number, layout.pages, fabric.rank()),
      packed_(static_cast<std::size_t>(fabric.size())),
      changed_(layout.pages),
      box_(4 * layout.bytes()),
      unwanted_(static_cast<std::size_t>(fabric.size())) {}

/// If the homes consist of a few long runs, this rank's own pages never fault before another rank fetches them. If the
/// homes are scattered, the kernel would need more records than it has, so these pages fault once.
Result<> Pages::start(bool has_contents) {
    if (check_ != nullptr && !keeps_open_) return start_checked();
    if (check_ != nullptr) make_open_twins();
    if (!has_contents && is_by_touch(homes_.placement())) return start_by_touch();
    if (homes_.any_open()) return start_with_open_homes();
    constexpr std::size_t most_runs = 64;
    const bool scattered = homes_.runs() > most_runs;
    if (scattered)
        if (auto guarded = faults_->guard(0, layout_.frames()); !guarded) return guarded;
    for (std::size_t page = 0; page < layout_.pages;) {
        const auto [begin, count] = homes_.run_from(page, layout_.pages, fabric_.rank());
        const bool own = is_home(begin);
        for (std::size_t each = begin; each < begin + count; ++each)
            pages_[each].state = own ? State::open : State::absent;
        if (!scattered) {
            const std::size_t offset = begin * layout_.page_bytes, bytes = count * layout_.page_bytes;
            if (auto started = own ? faults_->watch(offset, bytes) : faults_->guard(offset, bytes); !started)
                return started;
        }
        page = begin + count;
    }
    return {};
}

// -- faults --

void Pages::fault(std::size_t number, Attempt attempt, Writer writer) {
    Page& page = pages_[number];
    lock(page);
    const State before = page.state;
    Counters::add(counters_.faults);
    note_touch(number);
    const bool writes = attempt == Attempt::write || (attempt == Attempt::unknown && is_protected(number));
    bool tells = false; // what the interval needs
    // For destructors of libraries. Nobody can send the page any more; it is what this rank has had of it last.
    if (fabric_.has_left() && (before == State::absent || before == State::requested)) page.state = State::open;
    switch (page.state) {
    case State::absent:
        if (homes_.placement() == Placement::managed && homes_.is_open(number))
            homes_.decide(number, ask_manager(number));
        if (is_home(number)) { // since the manager has said so
            page.state = State::open;
            if (log_) [[unlikely]]
                log_.became_home(number * layout_.page_bytes, 1);
            change(number, 1, PageAccess::none, PageAccess::write);
            break;
        }
        fetch_ahead(number, State::absent, writes);
        tells = true;
        break;
    case State::requested:
        fetch_ahead(number, State::requested, writes);
        tells = true;
        break;
    case State::clean:
    case State::lent: // or the system has taken the page from a reader
        if (writes) begin_run(number);
        else change(number, 1, PageAccess::none, PageAccess::read);
        tells = writes;
        break;
    case State::parked:
        page.idle = 0;
        page.become_patient();
        if (attempt == Attempt::write) make_twin(number);
        page.state = attempt == Attempt::write ? State::written : State::clean;
        change(number, 1, PageAccess::none, attempt == Attempt::write ? PageAccess::write : PageAccess::read);
        break;
    case State::untouched: // zeros, as its twin is
        page.state = State::touched;
        written_.add(number);
        [[fallthrough]];
    case State::touched:
    case State::written: // another thread was faster, or the system has taken the page
    case State::open: change(number, 1, PageAccess::none, PageAccess::write); break;
    }
    if (check_ != nullptr && page.state == State::written && before != State::written) [[unlikely]]
        first_writers_[number] = writer;
    unlock(page);
    if (tells) search_expectation(number);
}

void Pages::bring(std::size_t number) {
    if (is_home(number) || homes_.is_open(number)) return;
    Page& page = pages_[number];
    lock(page);
    if (page.state == State::absent || page.state == State::requested) fetch_ahead(number, page.state, false);
    unlock(page);
}

/// A page that is protected.
void Pages::begin_to_write(std::size_t page) {
    if (is_home(page) && check_ == nullptr) written_.add(page);
    else make_twin(page);
    pages_[page].state = State::written;
}

void Pages::make_twin(std::size_t page) {
    if (check_ != nullptr && is_home(page)) [[unlikely]]
        make_home_twin(page);
    else std::memcpy(twin(page).data(), frame(page).data(), layout_.page_bytes);
    Counters::add(counters_.twins);
    written_.add(page);
}

void Pages::note_dropped(std::size_t page) {
    Counters::add(counters_.invalidations);
    if (log_) [[unlikely]]
        log_.dropped(page * layout_.page_bytes);
}

void Pages::invalidate(std::size_t first, std::size_t count, bool at_lock) {
    if (first > layout_.pages || count > layout_.pages - first) return;
    if (!tracked_) track();
    change_runs(
        first, first + count, PageAccess::read, PageAccess::none,
        [&](std::size_t page) {
            settle(page);
            return !is_home(page) && (is_copy(page) || pages_[page].state == State::untouched);
        },
        [&](std::size_t page) {
            if (std::exchange(pages_[page].state, State::absent) != State::untouched) note_dropped(page);
            if (at_lock) accesses_.lose_at_lock(page);
            pages_[page].streak = 0;
        });
}

/// In this order no copy escapes that another thread begins to write meanwhile.
void Pages::invalidate_at_lock(std::size_t first, std::size_t count, std::vector<Notice>& notices) {
    invalidate(first, count, true);
    invalidate_written(first, count, notices);
}

void Pages::invalidate_written(std::size_t first, std::size_t count, std::vector<Notice>& notices) {
    if (first > layout_.pages || count > layout_.pages - first) return;
    change_runs(
        first, first + count, PageAccess::write, PageAccess::none,
        [&](std::size_t page) {
            const State state = pages_[page].state;
            return !is_home(page) && (state == State::written || state == State::touched);
        },
        [&](std::size_t page) {
            if (send_difference(page)) announce(page, Audience::acquirer, notices);
            pages_[page].state = State::absent;
            note_dropped(page);
            accesses_.lose_at_lock(page);
        },
        // A thread that touches the page again must get its own changes back with it.
        [&] {
            send_packed(Audience::acquirer);
            if (courier_ != nullptr) courier_->await_applied();
        });
}

/// The thread may hold the locks of other pages, so it does not wait for this one. It waits for its home, whose
/// receiving thread needs no lock. Another thread that touches the page again gets its changes back with it, and one
/// that releases finds it in `written_`, waits for its lock, and then finds it in `evicted_`.
bool Pages::evict(std::size_t number) {
    Page& page = pages_[number];
    Turn turn(fabric_, page.locked);
    if (!turn.try_lock()) return false;
    page.cached = false;
    if (!is_home(number)) { // else it has moved here
        switch (page.state) {
        case State::written: {
            change(number, 1, PageAccess::write, PageAccess::none);
            std::vector<std::byte> packed;
            if (send_difference(number, packed)) evicted_.add(number);
            if (!packed.empty()) courier_->send_differences(homes_.of(number), number_, packed);
            if (courier_ != nullptr) courier_->await_applied();
            break;
        }
        case State::clean: change(number, 1, PageAccess::read, PageAccess::none); break;
        default: break;
        }
        if (page.state != State::absent) Counters::add(counters_.evictions);
        page.state = State::absent;
        page.streak = 0;
        give_back(number);
    }
    turn.unlock();
    return true;
}

// -- for the courier --

std::optional<int> Pages::home_for_changes(std::size_t page) const {
    if (check_ != nullptr || keeps_copies() || homes_.is_open(page)) return {};
    return homes_.of(page);
}

/// As apply(), it trusts that this rank is the home, which it may become in the barrier that it has not left yet.
std::optional<std::uint64_t> Pages::change_word(std::size_t offset, const WordChange& change) {
    const bool is_word = change.bytes == sizeof(std::uint32_t) || change.bytes == sizeof(std::uint64_t);
    if (check_ != nullptr || !is_word || offset >= layout_.frames() || offset % change.bytes != 0) return {};
    const std::uint64_t before = change.make(region_ + offset);
    if (layout_.lends) lent(region_).overwrite(offset / layout_.page_bytes);
    return before;
}

bool Pages::apply(std::span<const std::byte> packed, Origin origin) {
    const auto apply_to = [&](const PackedPage& entry, std::span<const std::byte> difference) {
        note_change(entry.page, origin);
        if (entry.has_gathered != 0) return apply_gathered(entry.page, difference);
        if (check_ != nullptr) [[unlikely]]
            return merge(region_, entry.page, difference);
        const bool applied = apply_difference(difference, frame(entry.page));
        if (layout_.lends) lent(region_).overwrite(entry.page);
        return applied;
    };
    return for_each_packed_page(packed, layout_.pages, apply_to, true);
}

} // namespace kumiki::dsm
