#pragma once

#include <cstddef>
#include <cstdint>

#include "dsm/lent_pages.hpp"
#include "dsm/turn.hpp"
#include "platform/memory.hpp"
#include "platform/page_faults.hpp"

namespace kumiki::dsm {

/// Guards a page of a home and its twin against the other ranks of its host (checked_pages.cpp).
struct HomeGuard {
    Brief busy;
    std::uint32_t has_twin;
};

/// The order of the data at the beginning of the array's region at every rank.
struct PageLayout {
    std::size_t page_bytes, pages;
    std::size_t ranks;    ///< of the job
    bool checked = false; ///< for the race check, with what follows the holders below
    bool lends = false;   ///< otherwise: with LentPages behind the holders, because homes do not fault

    std::size_t frames() const { return page_bytes * pages; }
    /// One byte for each page of the home: whether the page has been fetched since it was opened.
    std::size_t fetched() const { return frames(); }
    /// One byte for each block of pages: whether one of these bytes has been set since the home looked.
    static constexpr std::size_t block = 512;
    std::size_t fetched_blocks() const { return fetched() + pages; }
    std::size_t blocks() const { return (pages + block - 1) / block; }
    std::size_t blocks_in_part() const { return (blocks() + 63) / 64; }
    /// One word: for each of 64 parts of the blocks, a bit that says the same.
    std::size_t news() const { return platform::round_up(fetched_blocks() + blocks(), platform::apart); }
    /// At the manager of homes: a word for each page: 0, or its home + 1.
    std::size_t given() const { return news() + platform::apart; }
    /// At the home, with the protocol `update`: one bit for each page and rank: whether the rank has a copy.
    std::size_t holders() const {
        return platform::round_up(given() + pages * sizeof(std::uint32_t), sizeof(std::uint64_t));
    }
    std::size_t holder_words() const { return (ranks + 63) / 64; }
    std::size_t end_of_holders() const { return holders() + pages * holder_words() * sizeof(std::uint64_t); }
    std::size_t lent() const { return platform::round_up(end_of_holders(), platform::apart); }
    /// As long as the frames: what they are compared with.
    std::size_t twins() const { return platform::round_up(end_of_holders(), platform::page_size()); }
    /// At the home: a bit for each byte (Pages::overwritten).
    std::size_t overwritten() const { return twins() + frames(); }
    std::size_t mask_words() const { return page_bytes / 64; }
    /// At the home: a HomeGuard for each page.
    std::size_t guards() const { return overwritten() + pages * mask_words() * sizeof(std::uint64_t); }
    std::size_t bytes() const {
        if (checked) return guards() + pages * sizeof(HomeGuard);
        return lends ? lent() + LentPages::bytes(page_bytes) : end_of_holders();
    }
};

} // namespace kumiki::dsm
