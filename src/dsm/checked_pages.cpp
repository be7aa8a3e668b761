// The pages of an array under KUMIKI_SHARED_CHECK (docs/decisions/shared-check.md). What a rank writes to pages of
// other homes is seen by its differences. So that its writes to its own pages are, too, these get twins like the
// others; and because other ranks bring differences to such a page while its home writes to it, each difference goes
// into page and twin, which then differ where the home itself has written.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "dsm/difference.hpp"
#include "dsm/pages.hpp"
#include "dsm/race_check.hpp"
#include "platform/memory.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {
namespace {

bool is_zero(std::span<const std::uint64_t> words) {
    return std::ranges::all_of(words, [](std::uint64_t word) { return word == 0; });
}

} // namespace

HomeGuard& Pages::home_guard(std::byte* region, std::size_t page) const {
    return reinterpret_cast<HomeGuard*>(region + layout_.guards())[page];
}

/// The bytes of a page that its home wrote before another rank's difference changed them, too.
std::span<std::uint64_t> Pages::overwritten(std::byte* region, std::size_t page) const {
    return {reinterpret_cast<std::uint64_t*>(region + layout_.overwritten()) + page * layout_.mask_words(),
            layout_.mask_words()};
}

void Pages::check(RaceCheck& check) {
    check_ = &check;
    first_writers_.resize(layout_.pages);
}

/// All pages fault, also at their homes, where they have their contents.
Result<> Pages::start_checked() {
    for (std::size_t page = 0; page < layout_.pages; ++page)
        pages_[page].state = is_home(page) ? State::parked : State::absent;
    return faults_->guard(0, layout_.frames());
}

/// For memory that must not fault at its home: all of it is compared with its twins at each release instead.
void Pages::make_open_twins() {
    find_data([this](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page)
            if (is_home(page)) std::ranges::copy(frame(page), twin(page).begin());
    });
    for (std::size_t page = 0; page < layout_.pages; ++page)
        if (is_home(page)) home_guard(region_, page).has_twin = 1;
}

/// At the home of the page, before its first write of an interval.
void Pages::make_home_twin(std::size_t page) {
    HomeGuard& guard = home_guard(region_, page);
    const std::lock_guard busy(guard.busy);
    std::memcpy(twin(page).data(), frame(page).data(), layout_.page_bytes);
    guard.has_twin = 1;
}

/// Stores a difference at the home, of which `region` is the memory. Any rank of its host may do this.
bool Pages::merge(std::byte* region, std::size_t page, std::span<const std::byte> difference) const {
    HomeGuard& guard = home_guard(region, page);
    const std::lock_guard busy(guard.busy);
    const auto contents = frame_of(region, page);
    if (guard.has_twin == 0) return apply_difference(difference, contents);
    return merge_difference(difference, contents, frame_of(region + layout_.twins(), page), overwritten(region, page));
}

/// A page of another home, which nobody writes to at this moment.
void Pages::note_written(std::size_t page) {
    std::vector<std::uint64_t> mask(layout_.mask_words());
    if (mark_difference(frame(page), twin(page), mask)) check_->wrote(number_, page, first_writers_[page], mask);
}

/// A page of this home. If it never faults, the program may be writing to it; what it writes from now on counts for the
/// next interval.
void Pages::note_written_at_home(std::size_t page) {
    std::vector<std::uint64_t> mask;
    {
        HomeGuard& guard = home_guard(region_, page);
        const std::lock_guard busy(guard.busy);
        std::vector<std::byte> copy;
        std::span<const std::byte> now = frame(page);
        const auto before = overwritten(region_, page);
        if (keeps_open_) { // most of these pages are as they were
            const platform::UnorderedReads unordered;
            if (std::memcmp(now.data(), twin(page).data(), now.size()) == 0 && is_zero(before)) return;
            copy.assign(now.begin(), now.end());
            now = copy;
        }
        mask.assign(before.begin(), before.end());
        std::ranges::fill(before, 0U);
        mark_difference(now, twin(page), mask);
        if (keeps_open_) std::ranges::copy(now, twin(page).begin());
        else guard.has_twin = 0;
    }
    if (!is_zero(mask)) check_->wrote(number_, page, keeps_open_ ? check_->region() : first_writers_[page], mask);
}

/// Memory that does not fault at its home. What nobody has touched is a hole.
void Pages::note_open_pages() {
    find_data([this](std::size_t begin, std::size_t end) {
        for (std::size_t page = begin; page < end; ++page)
            if (is_home(page)) note_written_at_home(page);
    });
}

} // namespace kumiki::dsm
