#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dsm/word_change.hpp"

namespace kumiki::dsm {

/// A change of a word, as messages have it: with its place in the page, in bytes.
struct PlacedChange {
    std::uint64_t offset;
    WordChange change;
};

/// Changes of words that this rank has made in its own copies of pages, and that their homes do not have yet: of each
/// word one, because they are combined. The home gets what has been added to a word, and not the word, so that several
/// ranks may change it in one interval.
class GatheredChanges {
public:
    /// `before`: what the word has in the copy. Returns what it has after this: what its home will have, to the last
    /// digit, if no other rank changes the word. Nothing: the change cannot be combined with what has been gathered.
    std::optional<std::uint64_t> add(std::size_t page, const PlacedChange& wanted, std::uint64_t before);
    /// What has been gathered for a page. Whoever adds to it must be kept out meanwhile, as by the page's lock.
    std::vector<PlacedChange> take(std::size_t page);

private:
    struct Gathered {
        WordChange change;
        std::uint64_t before; ///< what the word had before the first change
    };
    std::mutex mutex_;
    std::unordered_map<std::size_t, std::unordered_map<std::uint64_t, Gathered>> changes_; ///< by page and offset
    std::atomic<bool> used_ = false; ///< false: nothing has ever been gathered, so take() needs no lock
};

} // namespace kumiki::dsm
