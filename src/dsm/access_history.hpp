#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dsm/place_order.hpp"

namespace kumiki::dsm {

/// Which pages of an array this rank will need in an interval between barriers, by what it needed in earlier intervals
/// that began at the same place of the program: loops repeat. (Bianchini, Pinto and Amorim, "Data prefetching for
/// software DSMs", 1998, predict by the two intervals before, whatever their place.)
///
/// A page that has been fetched in advance does not fault, so nobody sees whether it was needed. Therefore some
/// intervals expect nothing and learn from their faults, and others expect what was learned only when the last two that
/// learned had needed nearly the same. Only what the first interval of a place has needed is expected once at once:
/// programs with few steps gain from that, and the others lose one step.
///
/// Where intervals of one place differ, as those of a function that works on grids of several sizes, each of them is
/// remembered as a pattern. If the same way to that place has led to the same pattern twice in succession, it is
/// expected; otherwise the first faults tell which it is, and then the rest of that pattern is expected.
///
/// One thread at a time uses this.
class AccessHistory {
public:
    using PageList = std::vector<std::size_t>; ///< in ascending order
    struct Accesses {
        PageList fetched; ///< pages that were not here
        PageList written; ///< pages whose first write was noticed; they may be among the others, too
        std::size_t count() const { return fetched.size() + written.size(); }
        bool contains(std::size_t page) const;
        bool contains(const Accesses& others) const;
    };

    /// An interval begins. Returns what is expected of it, valid until end(); null: nothing so far, and as long as
    /// searches() is true, fault() may find it.
    const Accesses* begin(Visit visit);
    /// What an interval that has just begun, and learns, will probably need: to be fetched in advance, but so that its
    /// accesses still fault. Null: nothing is known. Valid until end().
    const Accesses* likely() const { return likely_; }
    /// Whether faults may still tell what is expected of the present interval.
    bool searches() const { return !candidates_.empty(); }
    /// A page has faulted in the present interval. Returns what is expected of it, once; null: nothing so far. Of
    /// several patterns that have all pages that have faulted, it is the one that all others contain.
    const Accesses* fault(std::size_t page);
    /// The interval has ended. `faulted`: what was accessed and not expected. `dropped`: pages that locks have
    /// taken from this rank before it needed them, and which it would have to fetch again anyway. `unchanged`: how many
    /// copies were ready to be written, and have the same bytes as before: if many, they were perhaps expected for
    /// nothing.
    void end(Accesses faulted, const PageList& dropped, std::size_t unchanged);

private:
    /// Whether pages that were expected to be written, and did not change, mean that the pattern is over. A program may
    /// also write what is there already: if the next interval learns the same pattern, they mean nothing. If it learns
    /// another one, the pattern is forgotten.
    enum class Doubt : std::uint8_t { none, present, dispelled };
    struct Pattern {
        Accesses learned;           ///< what the last interval that learned it has needed
        Accesses expected;          ///< besides, up to half as much again that intervals needed that expected this
        std::uint64_t seen = 0;     ///< in which interval of its place
        std::uint64_t number = 0;   ///< among all of its place
        unsigned left = 0;          ///< so many more will expect it before one learns again
        unsigned period = shortest; ///< `left` after the next one that learns the same
        Doubt doubt = Doubt::none;
    };
    struct Place {
        std::vector<Pattern> patterns;
        std::uint64_t intervals = 0;
        bool tried = false; ///< its first pattern has been expected
        std::uint64_t numbers = 0;
        Followers<1024> by_way; ///< the numbers of the patterns to which ways have led

        Pattern* led_to_by(std::uint64_t way);
    };
    static constexpr unsigned shortest = 4, longest = 64;
    static constexpr std::size_t most_patterns = 64; ///< of a place
    /// In a program with more places nothing is expected at the others.
    static constexpr std::size_t most_places = 4096;
    /// A pattern is forgotten when it was not seen in this many intervals for each pattern of its place.
    static constexpr std::uint64_t memory = 4;

    const Accesses* expect(Pattern& pattern);
    static const Pattern& learn(Place& place, Accesses accesses);
    static const Pattern* larger(Place& place, const Pattern& expected, const Accesses& faulted);
    void note(Place& place, const Pattern& pattern);
    void end_expected(Place& place, Pattern& expecting, const Accesses& faulted, std::size_t unchanged);

    std::unordered_map<std::uint64_t, Place> places_;
    Place* now_ = nullptr;             ///< null: outside of intervals with a known place
    std::uint64_t way_ = 0;            ///< to it
    bool is_led_ = false;              ///< what is expected, or likely, is so because of that
    std::vector<Pattern*> candidates_; ///< those that have all pages that have faulted so far
    bool faulted_ = false;             ///< there was a fault in this interval
    const Accesses* likely_ = nullptr;
    Pattern* expecting_ = nullptr; ///< what the present interval expects; null: it learns
};

} // namespace kumiki::dsm
