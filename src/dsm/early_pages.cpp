// Pages that are requested ahead of a barrier, and sent by their homes when they leave it
// (docs/decisions/shared-prefetch.md).
#include <algorithm>
#include <map>

#include "dsm/courier.hpp"
#include "dsm/pages.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

/// As many as a home may be asked for. Ranks of this host need no request.
void Pages::request_early(Visit visit, std::uint64_t barrier) {
    early_.begin(barrier);
    const auto* const needed = early_.needed(visit);
    if (needed == nullptr || !expects() || retired_ || courier_->asks_for_releases() ||
        sizeof(PackedPage) + layout_.page_bytes > courier_->longest_message())
        return;
    std::map<int, std::vector<PageRun>> gathered; // by home
    std::map<int, std::size_t> counts;
    for (const PageRun& run : *needed) {
        const int home = homes_.of(run.first);
        if (region_at(home) != nullptr) continue;
        gathered[home].push_back(run);
        counts[home] += run.count;
    }
    for (const auto& [home, runs] : gathered) {
        if (counts[home] > EarlyRequests::most_pages) continue;
        courier_->fetch_early(home, number_, barrier, runs);
        for (const PageRun& run : runs) early_.add(run);
    }
}

/// Waits for the pages that have been requested ahead of the barrier, and that this thread has locked.
void Pages::await_early() {
    while (early_missing_ > 0) {
        fabric_.progress().wait([this] { return !early_.box().is_empty(); }, fabric::Progress::Attention::network);
        for (const auto& answer : early_.box().take()) {
            if (answer.barrier != early_.barrier()) continue;
            for_each_packed_page(answer.packed, layout_.pages,
                                 [&](const PackedPage& head, std::span<const std::byte> contents) {
                                     store_early(head.page, answer.source, contents);
                                     return true;
                                 });
        }
    }
}

void Pages::store_early(std::size_t page, int source, std::span<const std::byte> contents) {
    auto& fetch = pages_[page].fetch;
    if (fetch.load(std::memory_order_relaxed) != Fetch::early) return; // it is not needed after all
    --early_missing_;
    const int home = homes_.of(page);
    if (contents.empty() || source != home) { // it has moved, or the home would have had to send too many
        fetch.store(Fetch::asked, std::memory_order_relaxed);
        courier_->fetch(home, number_, {page, 1});
        return;
    }
    Counters::add(counters_.early_fetches);
    note_fetched(page, contents);
    std::ranges::copy(contents, frame(page).begin());
    fetch.store(Fetch::here, std::memory_order_release);
}

/// An answer that nobody has waited for may come late, and even be for an earlier array with this number.
bool Pages::take_early(int source, std::uint64_t barrier, std::span<const std::byte> packed) {
    if (barrier != early_.barrier()) return true;
    const bool fits =
        for_each_packed_page(packed, layout_.pages, [&](const PackedPage&, std::span<const std::byte> contents) {
            return contents.empty() || contents.size() == layout_.page_bytes;
        });
    return fits && early_.box().put({source, barrier, {packed.begin(), packed.end()}});
}

// -- at the home --

bool Pages::lend_early(std::size_t page, std::size_t run, int rank, std::byte* into) {
    if (!is_home(page) || homes_.is_open(page)) return false;
    if (!layout_.lends || lends_copies(run)) {
        lend_copy(page, rank, into);
        return true;
    }
    note_copies(region_, page, 1, rank);
    without_places(region_, page, 1);
    const platform::UnorderedReads unordered; // as in begin_fetch()
    std::ranges::copy(frame(page), into);
    return true;
}

} // namespace kumiki::dsm
