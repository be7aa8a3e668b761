// Words that a rank changes in its own copy of a page, and at their home with its next release: for changes of which
// the program neither uses the result nor expects an order.
#include "dsm/gathered_changes.hpp"

#include <cstring>

#include "dsm/courier.hpp"
#include "dsm/packed_pages.hpp"
#include "dsm/pages.hpp"

namespace kumiki::dsm {

std::optional<std::uint64_t> GatheredChanges::add(std::size_t page, const PlacedChange& wanted, std::uint64_t before) {
    const std::lock_guard lock(mutex_);
    used_.store(true, std::memory_order_relaxed);
    const auto [found, is_new] = changes_[page].try_emplace(wanted.offset, Gathered{wanted.change, before});
    Gathered& gathered = found->second;
    if (!is_new) {
        const auto both = gathered.change.and_then(wanted.change);
        if (!both) return {};
        gathered.change = *both;
    }
    return gathered.change.after(gathered.before);
}

std::vector<PlacedChange> GatheredChanges::take(std::size_t page) {
    std::vector<PlacedChange> taken;
    if (!used_.load(std::memory_order_relaxed)) return taken;
    const std::lock_guard lock(mutex_);
    const auto found = changes_.extract(page);
    if (!found.empty())
        for (const auto& [offset, gathered] : found.mapped()) taken.push_back({offset, gathered.change});
    return taken;
}

/// An access that faults would do what fault() does. But the thread may be checked by a sanitizer, whose atomic
/// instructions must not fault. The home may be open: until a barrier has told all ranks of another one, it gets the
/// changes.
std::optional<std::uint64_t> Pages::gather_change(std::size_t offset, const WordChange& change) {
    constexpr int attempts = 8; // other threads may release, or evict, what this one has made ready
    const std::size_t page = offset / layout_.page_bytes;
    if (check_ != nullptr || keeps_copies() || !tracked_.load(std::memory_order_acquire) || !change.combines() ||
        offset % change.bytes != 0)
        return {};
    for (int attempt = 0; attempt < attempts; ++attempt) {
        lock(pages_[page]);
        const State state = pages_[page].state;
        const bool is_ready =
            state == State::written || state == State::touched || (is_home(page) && state == State::open);
        std::optional<std::uint64_t> before;
        if (is_ready) before = is_home(page) ? change.make(region_ + offset) : change_copy(offset, change);
        unlock(pages_[page]);
        if (is_ready) return before;
        fault(page, platform::Attempt::write);
    }
    return {};
}

/// The page is locked, and has a twin. A word that differs from it has been written by the program, too: then the home
/// gets the word from the copy, and the change with it.
std::optional<std::uint64_t> Pages::change_copy(std::size_t offset, const WordChange& change) {
    std::byte *const here = region_ + offset, *const its_twin = twins_ + offset;
    if (std::memcmp(here, its_twin, change.bytes) != 0) return change.make(here);
    std::uint64_t before = 0;
    std::memcpy(&before, here, change.bytes);
    const PlacedChange placed{offset % layout_.page_bytes, change};
    const auto after = gathered_.add(offset / layout_.page_bytes, placed, before);
    if (!after) return {};
    std::memcpy(its_twin, &*after, change.bytes);
    return WordChange{WordChange::Kind::exchange, change.bytes, *after, 0}.make(here);
}

/// Before the difference of the page: what the program has written to one of these words, it has written later.
void Pages::send_gathered(std::size_t page, std::span<const PlacedChange> changes, std::vector<std::byte>& packed) {
    const int home = homes_.of(page);
    if (std::byte* const there = region_at(home)) {
        for (const auto& [offset, change] : changes) change.make(frame_of(there, page).data() + offset);
        return;
    }
    while (!changes.empty()) {
        const std::size_t begin = packed.size(), needed = sizeof(PackedPage) + sizeof(PlacedChange);
        if (begin + needed > courier_->longest_message()) {
            courier_->send_differences(home, number_, packed);
            packed.clear();
            continue;
        }
        const std::size_t room = (courier_->longest_message() - begin - sizeof(PackedPage)) / sizeof(PlacedChange);
        const auto now = std::as_bytes(changes.first(std::min(room, changes.size())));
        append_head(packed, {page, now.size(), 1});
        packed.insert(packed.end(), now.begin(), now.end());
        changes = changes.subspan(now.size() / sizeof(PlacedChange));
    }
}

/// Returns false if they do not fit the page.
bool Pages::apply_gathered(std::size_t page, std::span<const std::byte> packed) {
    for (; packed.size() >= sizeof(PlacedChange); packed = packed.subspan(sizeof(PlacedChange))) {
        PlacedChange wanted{};
        std::memcpy(&wanted, packed.data(), sizeof wanted);
        if (wanted.offset >= layout_.page_bytes || !wanted.change.combines() ||
            !change_word(page * layout_.page_bytes + wanted.offset, wanted.change))
            return false;
    }
    return packed.empty();
}

} // namespace kumiki::dsm
