#include "dsm/pages.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dsm/courier.hpp"
#include "dsm/difference.hpp"
#include "dsm/turn.hpp"
#include "platform/memory.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

using platform::Attempt;
using platform::PageAccess;

Pages::Pages(fabric::Fabric& fabric, Courier* courier, std::uint32_t number, Place place, Layout layout, Homes homes,
             std::unique_ptr<platform::PageFaults> faults)
    : fabric_(fabric),
      courier_(courier),
      number_(number),
      data_(place.data),
      region_(place.region),
      twins_(place.twins),
      layout_(layout),
      homes_(std::move(homes)),
      faults_(std::move(faults)),
      pages_(layout.pages),
      written_(layout.pages),
      told_(layout.pages),
      touched_(layout.pages),
      packed_(static_cast<std::size_t>(fabric.size())) {}

Pages::~Pages() { platform::release_zeros(twins_, layout_.frames()); }

/// If the homes consist of a few long runs, this rank's own pages never fault before another rank fetches them. If the
/// homes are scattered, the kernel would need more records than it has, so these pages fault once.
Result<> Pages::start() {
    if (is_by_touch(homes_.placement())) return start_by_touch();
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

std::byte* Pages::region_at(int rank) const {
    std::byte* const arena = fabric_.memory().arena(rank);
    return arena == nullptr ? nullptr : arena + fabric_.memory().offset(region_);
}

// -- faults --

void Pages::lock(Page& page) { Turn(fabric_, page.locked).lock(); }
void Pages::unlock(Page& page) { Turn(fabric_, page.locked).unlock(); }

/// If an access cannot be made possible, it cannot return an error either.
void Pages::change(std::size_t first, std::size_t count, PageAccess from, PageAccess to) {
    const auto changed = faults_->change(first * layout_.page_bytes, count * layout_.page_bytes, from, to);
    if (!changed) give_up(changed.error());
}

void Pages::give_up(const Failure& failure) const {
    fmt::print(stderr, "kumiki: rank {} ends: {}\n", fabric_.rank(), failure.message);
    std::abort();
}

void Pages::fault(std::size_t number, Attempt attempt) {
    Page& page = pages_[number];
    lock(page);
    Counters::add(counters_.faults);
    note_touch(number);
    const bool writes = attempt == Attempt::write || (attempt == Attempt::unknown && page.state == State::clean);
    switch (page.state) {
    case State::absent:
        if (homes_.placement() == Placement::managed && homes_.is_open(number))
            homes_.decide(number, ask_manager(number));
        if (is_home(number)) { // since the manager has said so
            page.state = State::open;
            change(number, 1, PageAccess::none, PageAccess::write);
            break;
        }
        fetch_ahead(number, writes);
        break;
    case State::clean: // or the system has taken the page from a reader
        if (writes) {
            if (is_home(number)) written_.add(number);
            else make_twin(number);
            page.state = State::written;
        }
        change(number, 1, writes ? PageAccess::read : PageAccess::none, writes ? PageAccess::write : PageAccess::read);
        break;
    case State::untouched: // zeros, as its twin is
        page.state = State::touched;
        written_.add(number);
        [[fallthrough]];
    case State::touched:
    case State::written: // another thread was faster, or the system has taken the page
    case State::open: change(number, 1, PageAccess::none, PageAccess::write); break;
    }
    unlock(page);
}

/// Fetches the page, which the thread has locked, and in a sequential run of faults also absent pages behind it that
/// have the same home. The first page that another thread has locked ends the run.
void Pages::fetch_ahead(std::size_t number, bool writes) {
    const int home = homes_.of(number);
    const ReadAhead::Window window = read_ahead_.begin(number, longest_fetch / layout_.page_bytes);
    const std::size_t last = std::min(number + window.pages, layout_.pages);
    std::size_t end = number + 1;
    while (end < last && homes_.of(end) == home && !homes_.is_open(end) &&
           Turn(fabric_, pages_[end].locked).try_lock()) {
        if (pages_[end].state == State::absent) {
            ++end;
            continue;
        }
        unlock(pages_[end]);
        break;
    }
    fetch(number, end - number);
    read_ahead_.ended(window, number, end - number);
    if (writes) make_twin(number);
    pages_[number].state = writes ? State::written : State::clean;
    for (std::size_t each = number + 1; each < end; ++each) pages_[each].state = State::clean;
    const std::size_t read_only = writes ? number + 1 : number;
    if (writes) change(number, 1, PageAccess::none, PageAccess::write);
    if (read_only < end) change(read_only, end - read_only, PageAccess::none, PageAccess::read);
    for (std::size_t each = number + 1; each < end; ++each) Turn(fabric_, pages_[each].locked).unlock_quietly();
}

void Pages::make_twin(std::size_t page) {
    std::memcpy(twin(page).data(), frame(page).data(), layout_.page_bytes);
    Counters::add(counters_.twins);
    written_.add(page);
}

/// Marks pages in their home's region, before they are read there, so that a home that writes to one after that sees
/// the mark at its next release: between mark and read there is a fence, and so there is between the home's writes and
/// its look (protect_fetched), hence either the copy has the write, or the home sees the mark and announces the page.
/// The home takes the word first, then the block's byte, and then looks at the page's, so they are set in the other
/// order.
void Pages::mark_fetched(std::byte* region, std::size_t first, std::size_t count) const {
    const std::size_t end = first + count;
    for (std::size_t page = first; page < end; ++page) fetched(region, page).store(1, std::memory_order_relaxed);
    for (std::size_t block = first / Layout::block; block * Layout::block < end; ++block)
        std::atomic_ref(reinterpret_cast<std::uint8_t&>(region[layout_.fetched_blocks() + block]))
            .store(1, std::memory_order_release);
    std::atomic_ref(reinterpret_cast<std::uint64_t&>(region[layout_.news()])).store(1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Pages that have one home, and that this thread has locked.
void Pages::fetch(std::size_t first, std::size_t count) {
    const int home = homes_.of(first);
    const std::size_t bytes = count * layout_.page_bytes;
    Counters::add(counters_.fetches, count);
    Counters::add(counters_.fetched_bytes, bytes);
    if (std::byte* const there = region_at(home)) {
        mark_fetched(there, first, count);
        // Other ranks may bring differences to these pages meanwhile, in bytes that a program without data races does
        // not read before the next barrier.
        const platform::UnorderedReads unordered;
        std::memcpy(frame(first).data(), frame_of(there, first).data(), bytes);
        return;
    }
    for (std::size_t page = first; page < first + count; ++page)
        pages_[page].fetch.store(Fetch::asked, std::memory_order_relaxed);
    courier_->fetch(home, number_, first, count);
    std::size_t missing = first;
    const auto all_are_here = [&] {
        while (missing < first + count && pages_[missing].fetch.load(std::memory_order_acquire) == Fetch::here)
            pages_[missing++].fetch.store(Fetch::idle, std::memory_order_relaxed);
        return missing == first + count;
    };
    fabric_.progress().wait(all_are_here, fabric::Progress::Attention::network);
}

// -- releasing --

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

void Pages::release_to_all(std::vector<Notice>& notices) {
    const std::size_t before = notices.size();
    told_.take_runs([&](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page) announce(page, Audience::all, notices);
    });
    release_to(Audience::all, notices);
    add_requests(before, notices);
}

void Pages::release_to(Audience audience, std::vector<Notice>& notices) {
    std::atomic_thread_fence(std::memory_order_seq_cst); // see mark_fetched()
    if (!tracked_) [[unlikely]]
        look_at_untracked(audience);
    protect_fetched(audience, notices);
    written_.take_runs([&](std::size_t begin, std::size_t end) { release_written(begin, end, audience, notices); });
    send_packed();
}

void Pages::send_packed() {
    for (int rank = 0; rank < fabric_.size(); ++rank)
        if (auto& bytes = packed_[static_cast<std::size_t>(rank)]; !bytes.empty()) {
            courier_->send_differences(rank, number_, bytes);
            bytes.clear();
        }
}

/// Announces the open pages that another rank has fetched, and detects their writes from now on.
void Pages::protect_fetched(Audience audience, std::vector<Notice>& notices) {
    auto& news = reinterpret_cast<std::uint64_t&>(region_[layout_.news()]);
    if (std::atomic_ref(news).load(std::memory_order_relaxed) == 0) return;
    std::atomic_ref(news).exchange(0, std::memory_order_acq_rel);
    for (std::size_t block = 0; block < layout_.blocks(); ++block) {
        std::atomic_ref set(reinterpret_cast<std::uint8_t&>(region_[layout_.fetched_blocks() + block]));
        if (set.load(std::memory_order_relaxed) == 0 || set.exchange(0, std::memory_order_acquire) == 0) continue;
        const std::size_t first = block * Layout::block;
        protect_fetched(first, std::min(first + Layout::block, layout_.pages), audience, notices);
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
            for (std::size_t each = begin; each < page; ++each)
                if (fetched(region_, each).exchange(0, std::memory_order_acq_rel) != 0)
                    announce(each, audience, notices);
            continue;
        }
        change_runs(
            begin, page, PageAccess::write, PageAccess::read,
            [&](std::size_t each) { return is_fetched(each) && pages_[each].state == State::open; },
            [&](std::size_t each) {
                pages_[each].state = State::clean;
                announce(each, audience, notices);
            });
    }
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
            change_runs(begin, page, PageAccess::write, PageAccess::read, is_written, [&](std::size_t each) {
                pages_[each].state = State::clean;
                if (send_difference(each)) announce(each, audience, notices);
            });
        } else if (audience == Audience::acquirer) { // others still have copies
            change_runs(begin, page, PageAccess::write, PageAccess::read, is_written, [&](std::size_t each) {
                pages_[each].state = State::clean;
                announce(each, audience, notices);
            });
        } else {
            for (std::size_t each = begin; each < page; ++each) {
                if (!is_written(each)) continue;
                lock(pages_[each]);
                fetched(region_, each).store(0, std::memory_order_relaxed);
                pages_[each].state = State::open;
                announce(each, audience, notices);
                unlock(pages_[each]);
            }
        }
    }
}

/// Returns false when the page has been written, but not changed.
bool Pages::send_difference(std::size_t page) {
    const int home = homes_.of(page);
    std::size_t differing = 0;
    if (std::byte* const there = region_at(home)) {
        differing = copy_difference(frame(page), twin(page), frame_of(there, page));
    } else {
        auto& packed = packed_[static_cast<std::size_t>(home)];
        if (packed.size() + sizeof(Entry) + longest_difference(layout_.page_bytes) > courier_->longest_message()) {
            courier_->send_differences(home, number_, packed);
            packed.clear();
        }
        const std::size_t begin = packed.size();
        packed.resize(begin + sizeof(Entry));
        differing = pack_difference(frame(page), twin(page), packed);
        const Entry entry{page, packed.size() - begin - sizeof(Entry)};
        if (differing == 0) packed.resize(begin);
        else std::memcpy(&packed[begin], &entry, sizeof entry);
    }
    if (differing == 0) return false;
    Counters::add(counters_.differences);
    Counters::add(counters_.difference_bytes, differing);
    return true;
}

void Pages::invalidate(std::size_t first, std::size_t count) {
    if (first > layout_.pages || count > layout_.pages - first) return;
    if (!tracked_) track();
    change_runs(
        first, first + count, PageAccess::read, PageAccess::none,
        [&](std::size_t page) {
            const State state = pages_[page].state;
            return !is_home(page) && (state == State::clean || state == State::untouched);
        },
        [&](std::size_t page) {
            if (std::exchange(pages_[page].state, State::absent) == State::clean)
                Counters::add(counters_.invalidations);
            pages_[page].streak = 0;
        });
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
            Counters::add(counters_.invalidations);
        },
        // A thread that touches the page again must get its own changes back with it.
        [&] {
            send_packed();
            if (courier_ != nullptr) courier_->await_applied();
        });
}

// -- for the courier --

/// This thread acts for the rank that fetches.
const std::byte* Pages::lend(std::size_t first, std::size_t count) {
    if (first >= layout_.pages || count == 0 || count > layout_.pages - first) return nullptr;
    mark_fetched(region_, first, count);
    return frame(first).data();
}

bool Pages::take(std::size_t first, std::span<const std::byte> contents) {
    const std::size_t count = contents.size() / layout_.page_bytes;
    if (first >= layout_.pages || count == 0 || count > layout_.pages - first ||
        contents.size() != count * layout_.page_bytes)
        return false;
    for (std::size_t page = first; page < first + count; ++page)
        if (pages_[page].fetch.load(std::memory_order_relaxed) != Fetch::asked) return false;
    std::memcpy(frame(first).data(), contents.data(), contents.size());
    for (std::size_t page = first; page < first + count; ++page)
        pages_[page].fetch.store(Fetch::here, std::memory_order_release);
    return true;
}

bool Pages::apply(std::span<const std::byte> packed) {
    while (!packed.empty()) {
        Entry entry{};
        if (packed.size() < sizeof entry) return false;
        std::memcpy(&entry, packed.data(), sizeof entry);
        packed = packed.subspan(sizeof entry);
        if (entry.bytes > packed.size() || entry.page >= layout_.pages) return false;
        if (!apply_difference(packed.first(entry.bytes), frame(entry.page))) return false;
        packed = packed.subspan(entry.bytes);
    }
    return true;
}

} // namespace kumiki::dsm
