#pragma once

#include <atomic>
#include <cstdint>

namespace kumiki::dsm {

/// What a rank may do with a page without a fault, and what it has to do when it releases (src/dsm/README.md has the
/// table of changes).
enum class PageState : std::uint8_t {
    untouched, ///< as far as this rank knows nobody has written to it: its frame has zeros; the first state, as zeros
    absent,    ///< this rank has no copy
    clean,     ///< may be read; the next write is a fault
    lent,      ///< the same, at the home: it was `open` until another rank fetched it, after the last release
    written,   ///< written since the last release; has a twin, unless this rank is the home
    open,      ///< at the home: may be written, and no other rank has a copy
    touched,   ///< the same, but this rank has since its last release, perhaps; its twin is zeros
    parked,    ///< an up-to-date copy like `clean`, but accesses fault, to find out if there are any
    requested, ///< the same, but its contents are perhaps still under way; until the next barrier
};

/// What a rank knows of one page of an array. It begins as zeros.
struct PageRecord {
    enum class Fetch : std::uint8_t {
        idle,
        asked, ///< the page, or an update of it, has been requested
        early, ///< the same, ahead of the last barrier
        here,
    };

    std::atomic<std::uint8_t> locked;
    PageState state; ///< guarded by the lock
    std::atomic<Fetch> fetch;
    std::atomic<std::uint64_t> origin; ///< twice the message, plus whether it is unreleased (Pages::Origin)
    bool follows;                      ///< its home is to move to a rank that alone keeps writing to it
    std::uint8_t streak;               ///< intervals in which this rank has written, and others have not
    std::uint8_t idle;                 ///< updates of this copy since it was fetched, or was found to be in use
    std::uint8_t doublings;            ///< of its patience
    bool cached;                       ///< its frame is in the cache
    bool sent;                         ///< at the home: all holders on other hosts have at least what the twin has
    bool told;                         ///< at this barrier: announced by this rank at a lock before

    /// After so many updates it is parked, or after so many reviews announced: a copy is dropped if it has been brought
    /// up to date so often, and was not accessed before the next update. Where it was, the number doubles, so that
    /// copies in use seldom fault.
    unsigned patience() const { return shortest_patience << doublings; }
    void become_patient() {
        if (patience() < longest_patience) ++doublings;
    }
    static constexpr unsigned shortest_patience = 4, longest_patience = 64;
};

} // namespace kumiki::dsm
