#include "dsm/race_check.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <utility>

namespace kumiki::dsm {

using collective::Collectives;

// -- what this rank writes --

void RaceCheck::wrote(std::uint32_t array, std::uint64_t page, Writer first, std::span<const std::uint64_t> mask) {
    const std::lock_guard guard(mutex_);
    if (now_.masks.size() + mask.size() > most_words) {
        now_.complete = false;
        return;
    }
    now_.noted.push_back({array, page, now_.seen.size(), first, now_.masks.size(), mask.size()});
    now_.masks.insert(now_.masks.end(), mask.begin(), mask.end());
}

/// An interval in which nothing was written needs no number. The mutex must be held.
void RaceCheck::close_interval() {
    if (!now_.noted.empty() && now_.noted.back().interval == now_.seen.size())
        now_.seen.push_back(clocks_.end_interval());
}

void RaceCheck::end_interval() {
    const std::lock_guard guard(mutex_);
    close_interval();
}

void RaceCheck::end_epoch() {
    const std::lock_guard guard(mutex_);
    close_interval();
    ended_ = std::exchange(now_, {});
}

// -- at a barrier --

std::vector<RaceCheck::Run> RaceCheck::runs_of(const Epoch& epoch) {
    std::vector<Page> pages;
    for (const Noted& each : epoch.noted) pages.emplace_back(each.array, each.page);
    std::ranges::sort(pages);
    const auto repeated = std::ranges::unique(pages);
    pages.erase(repeated.begin(), repeated.end());
    std::vector<Run> runs;
    for (const auto& [array, page] : pages)
        if (!runs.empty() && runs.back().array == array && runs.back().first + runs.back().count == page)
            ++runs.back().count;
        else runs.push_back({array, page, 1});
    return runs;
}

/// Returns the runs of all ranks; none where at most one rank has any.
Result<std::vector<RaceCheck::Run>> RaceCheck::exchange(std::span<const Run> own, bool complete) {
    const auto ranks = static_cast<std::size_t>(fabric_.size());
    constexpr std::uint64_t incomplete = std::uint64_t{1} << 63;
    const std::uint64_t count = own.size() | (complete ? 0 : incomplete);
    std::vector<std::uint64_t> counts(ranks);
    if (auto met =
            collectives_.all_gather(&count, sizeof count, counts.data(), Collectives::Pieces::equal(sizeof count));
        !met)
        return tl::unexpected(met.error());
    for (std::uint64_t& each : counts) {
        if ((each & incomplete) != 0) races_.miss();
        each &= ~incomplete;
    }
    if (std::ranges::count(counts, 0U) + 1 >= static_cast<std::ptrdiff_t>(ranks)) return std::vector<Run>{};
    std::vector<std::size_t> begins(ranks + 1);
    for (std::size_t rank = 0; rank < ranks; ++rank) begins[rank + 1] = begins[rank] + counts[rank];
    std::vector<Run> all(begins[ranks]);
    Collectives::Pieces pieces;
    pieces.bytes = [&](int rank) { return counts[static_cast<std::size_t>(rank)] * sizeof(Run); };
    pieces.offset = [&](int rank) { return begins[static_cast<std::size_t>(rank)] * sizeof(Run); };
    if (auto met = collectives_.all_gather(own.data(), own.size_bytes(), all.data(), pieces); !met)
        return tl::unexpected(met.error());
    return all;
}

/// A rank names a page once.
std::vector<RaceCheck::Page> RaceCheck::written_by_several(std::span<const Run> runs) {
    std::vector<Page> pages, several;
    for (const Run& run : runs)
        for (std::uint64_t page = run.first; page < run.first + run.count; ++page) pages.emplace_back(run.array, page);
    std::ranges::sort(pages);
    for (std::size_t at = 1; at < pages.size(); ++at)
        if (pages[at] == pages[at - 1] && (several.empty() || several.back() != pages[at]))
            several.push_back(pages[at]);
    return several;
}

std::vector<std::uint64_t> RaceCheck::pack(const Epoch& epoch, std::span<const Page> pages) const {
    std::vector<std::uint64_t> words;
    const auto own = static_cast<std::uint32_t>(fabric_.rank());
    for (const Noted& each : epoch.noted) {
        if (!std::ranges::binary_search(pages, Page(each.array, each.page))) continue;
        const auto& seen = epoch.seen[each.interval];
        PageWrites{each.array,
                   own,
                   each.page,
                   seen[own],
                   each.first,
                   seen,
                   std::span(epoch.masks).subspan(each.mask, each.words)}
            .append_to(words);
    }
    return words;
}

Result<> RaceCheck::meet(std::uint64_t barriers, const AddressOf& address_of) {
    Epoch epoch;
    {
        const std::lock_guard guard(mutex_);
        epoch = std::exchange(ended_, {});
    }
    // From now on the tool knows that something has been compared.
    if (barriers == 0 && fabric_.rank() == 0 && record_ != nullptr) record_->save_races(races_.as_json());
    const auto runs = exchange(runs_of(epoch), epoch.complete);
    if (!runs) return tl::unexpected(runs.error());
    const std::vector<Page> pages = written_by_several(*runs);
    if (pages.empty()) return {}; // all ranks know the same
    return collect(pack(epoch, pages), barriers, address_of);
}

Result<> RaceCheck::collect(std::span<const std::uint64_t> own, std::uint64_t barriers, const AddressOf& address_of) {
    const auto ranks = static_cast<std::size_t>(fabric_.size());
    const std::uint64_t bytes = own.size_bytes();
    std::vector<std::uint64_t> lengths(ranks);
    if (auto met =
            collectives_.all_gather(&bytes, sizeof bytes, lengths.data(), Collectives::Pieces::equal(sizeof bytes));
        !met)
        return met;
    std::vector<std::size_t> begins(ranks + 1);
    for (std::size_t rank = 0; rank < ranks; ++rank) begins[rank + 1] = begins[rank] + lengths[rank];
    std::vector<std::uint64_t> all(fabric_.rank() == 0 ? begins[ranks] / sizeof(std::uint64_t) : 0);
    Collectives::Pieces pieces;
    pieces.bytes = [&](int rank) { return lengths[static_cast<std::size_t>(rank)]; };
    pieces.offset = [&](int rank) { return begins[static_cast<std::size_t>(rank)]; };
    if (auto met = collectives_.gather(own.data(), bytes, all.data(), pieces, 0); !met) return met;
    std::vector<PageWrites> writes;
    for (std::span<const std::uint64_t> left = all; !left.empty();) writes.push_back(PageWrites::read(left, ranks));
    // At once, so that a program that ends early leaves what has been found.
    if (races_.find(writes, barriers, address_of) && record_ != nullptr) record_->save_races(races_.as_json());
    return {};
}

void RaceCheck::finish() const {
    if (fabric_.rank() != 0) return;
    if (record_ != nullptr) {
        record_->save_races(races_.as_json());
        return;
    }
    const std::size_t found = races_.all().size();
    if (!races_.complete())
        fmt::print(stderr, "kumiki: KUMIKI_SHARED_CHECK had no room for all writes between two barriers\n");
    if (found == 0) fmt::print(stderr, "kumiki: KUMIKI_SHARED_CHECK has found no races between ranks\n");
    else
        fmt::print(stderr,
                   "kumiki: KUMIKI_SHARED_CHECK has found races between ranks, by {} of instructions; "
                   "`kumiki run` with this setting says which arrays and source lines they are\n",
                   found == 1 ? "1 pair" : fmt::format("{} pairs", found));
}

} // namespace kumiki::dsm
