#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dsm/page_layout.hpp"

namespace kumiki::dsm {

/// Which ranks have copies of the pages of a home, with the protocol `update`: a bit for each page and rank, in the
/// home's region of an array. The ranks of its host may change them at any time.
class Holders {
public:
    Holders(std::byte* region, const PageLayout& layout)
        : words_(reinterpret_cast<std::uint64_t*>(region + layout.holders())), count_(layout.holder_words()) {}

    void add(std::size_t page, int rank) const {
        const auto bit = static_cast<std::size_t>(rank);
        word(page, bit / 64).fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_relaxed);
    }
    void remove(std::size_t page, int rank) const {
        const auto bit = static_cast<std::size_t>(rank);
        word(page, bit / 64).fetch_and(~(std::uint64_t{1} << bit % 64), std::memory_order_relaxed);
    }
    void clear(std::size_t page) const {
        for (std::size_t each = 0; each < count_; ++each) word(page, each).store(0, std::memory_order_relaxed);
    }
    bool any(std::size_t page) const {
        bool found = false;
        for_each(page, [&found](int) { found = true; });
        return found;
    }
    /// Calls each(rank), in ascending order.
    template <class Each>
    void for_each(std::size_t page, Each each) const {
        for (std::size_t at = 0; at < count_; ++at)
            for (std::uint64_t left = word(page, at).load(std::memory_order_relaxed); left != 0; left &= left - 1)
                each(static_cast<int>(at * 64) + std::countr_zero(left));
    }

private:
    std::atomic_ref<std::uint64_t> word(std::size_t page, std::size_t at) const {
        return std::atomic_ref(words_[page * count_ + at]);
    }
    std::uint64_t* words_;
    std::size_t count_; ///< words for each page
};

} // namespace kumiki::dsm
