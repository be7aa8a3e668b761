#include "dsm/access_history.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kumiki::dsm {
namespace {

using PageList = AccessHistory::PageList;

PageList with(const PageList& some, const PageList& others) {
    PageList both;
    std::ranges::set_union(some, others, std::back_inserter(both));
    return both;
}

AccessHistory::Accesses with(const AccessHistory::Accesses& some, const AccessHistory::Accesses& others) {
    return {.fetched = with(some.fetched, others.fetched), .written = with(some.written, others.written)};
}

PageList without(const PageList& some, const PageList& others) {
    PageList left;
    std::ranges::set_difference(some, others, std::back_inserter(left));
    return left;
}

std::size_t common(const PageList& some, const PageList& others) { return some.size() - without(some, others).size(); }

/// At least three quarters of what one of them needed the other one needed, too.
bool agree(const AccessHistory::Accesses& before, const AccessHistory::Accesses& now) {
    const std::size_t both = common(before.fetched, now.fetched) + common(before.written, now.written);
    return 4 * both >= 3 * std::max(before.count(), now.count());
}

} // namespace

bool AccessHistory::Accesses::contains(std::size_t page) const {
    return std::ranges::binary_search(fetched, page) || std::ranges::binary_search(written, page);
}

bool AccessHistory::Accesses::contains(const Accesses& others) const {
    return std::ranges::includes(fetched, others.fetched) && std::ranges::includes(written, others.written);
}

AccessHistory::Pattern* AccessHistory::Place::led_to_by(std::uint64_t way) {
    const auto number = by_way.after(way);
    const auto found = number ? std::ranges::find(patterns, *number, &Pattern::number) : patterns.end();
    return found == patterns.end() ? nullptr : &*found;
}

const AccessHistory::Accesses* AccessHistory::begin(Visit visit) {
    now_ = nullptr;
    expecting_ = nullptr;
    likely_ = nullptr;
    candidates_.clear();
    faulted_ = is_led_ = false;
    if (visit.place == 0 || (places_.size() == most_places && !places_.contains(visit.place))) return nullptr;
    now_ = &places_[visit.place];
    way_ = visit.way;
    ++now_->intervals;
    std::erase_if(now_->patterns, [&](const Pattern& pattern) {
        return now_->intervals - pattern.seen > memory * now_->patterns.size();
    });
    Pattern* const only = now_->patterns.size() == 1 ? &now_->patterns.front() : now_->led_to_by(way_);
    if (only != nullptr) {
        is_led_ = now_->patterns.size() > 1;
        if (only->left == 0) likely_ = &only->expected;
        return expect(*only);
    }
    for (Pattern& pattern : now_->patterns) candidates_.push_back(&pattern);
    return nullptr;
}

const AccessHistory::Accesses* AccessHistory::fault(std::size_t page) {
    const bool tells =
        std::erase_if(candidates_, [&](const Pattern* pattern) { return !pattern->expected.contains(page); }) > 0 ||
        !std::exchange(faulted_, true);
    if (!tells || candidates_.empty()) return nullptr;
    Pattern& least =
        **std::ranges::min_element(candidates_, {}, [](const Pattern* pattern) { return pattern->expected.count(); });
    if (!std::ranges::all_of(candidates_, [&](const Pattern* pattern) {
            return pattern == &least || pattern->expected.contains(least.expected);
        }))
        return nullptr;
    candidates_.clear();
    return expect(least);
}

const AccessHistory::Accesses* AccessHistory::expect(Pattern& pattern) {
    if (pattern.left == 0) return nullptr; // this interval learns
    --pattern.left;
    pattern.seen = now_->intervals;
    expecting_ = &pattern;
    return &pattern.expected;
}

void AccessHistory::end(Accesses faulted, const PageList& dropped, std::size_t unchanged) {
    Place* const place = std::exchange(now_, nullptr);
    Pattern* const expecting = std::exchange(expecting_, nullptr);
    candidates_.clear();
    if (place == nullptr) return;
    if (!dropped.empty()) faulted.fetched = without(faulted.fetched, dropped);
    if (expecting == nullptr) note(*place, learn(*place, std::move(faulted)));
    else end_expected(*place, *expecting, faulted, unchanged);
}

/// The interval had this pattern.
void AccessHistory::note(Place& place, const Pattern& pattern) {
    if (way_ != 0) place.by_way.note(way_, pattern.number);
}

void AccessHistory::end_expected(Place& place, Pattern& expecting, const Accesses& faulted, std::size_t unchanged) {
    const std::size_t expected = expecting.expected.count();
    if (2 * faulted.count() > expected) {
        if (const Pattern* const other = larger(place, expecting, faulted)) note(place, *other);
        else if (is_led_) place.by_way.forget(way_);
        else if (expecting.period == shortest) place.patterns.clear(); // it was the first, and has happened only once
        else expecting.left = 0;                                       // the program has changed its ways
        return;
    }
    note(place, expecting);
    if (2 * (expected + faulted.count()) <= 3 * expecting.learned.count())
        expecting.expected = with(expecting.expected, faulted);
    if (4 * unchanged > expected && expecting.doubt == Doubt::none) {
        expecting.left = 0; // perhaps it has
        expecting.doubt = Doubt::present;
    }
}

/// The pattern that the interval had, if the expected one is a part of it; null: it had none that is known.
const AccessHistory::Pattern* AccessHistory::larger(Place& place, const Pattern& expected, const Accesses& faulted) {
    const Accesses all = with(expected.learned, faulted);
    const auto found =
        std::ranges::find_if(place.patterns, [&](const Pattern& pattern) { return agree(pattern.learned, all); });
    if (found == place.patterns.end() || &*found == &expected) return nullptr;
    found->seen = place.intervals;
    return &*found;
}

const AccessHistory::Pattern& AccessHistory::learn(Place& place, Accesses accesses) {
    const auto known =
        std::ranges::find_if(place.patterns, [&](const Pattern& pattern) { return agree(pattern.learned, accesses); });
    if (known == place.patterns.end()) {
        std::erase_if(place.patterns, [](const Pattern& pattern) { return pattern.doubt == Doubt::present; });
        if (place.patterns.size() == most_patterns)
            place.patterns.erase(std::ranges::min_element(place.patterns, {}, &Pattern::seen));
        const unsigned untried = place.tried ? 0 : 1;
        place.tried = true;
        place.patterns.push_back({.learned = accesses,
                                  .expected = accesses,
                                  .seen = place.intervals,
                                  .number = ++place.numbers,
                                  .left = untried});
        return place.patterns.back();
    }
    known->learned = known->expected = std::move(accesses);
    known->seen = place.intervals;
    known->left = known->period;
    if (known->doubt == Doubt::present) known->doubt = Doubt::dispelled;
    known->period = std::min(2 * known->period, longest);
    return *known;
}

} // namespace kumiki::dsm
