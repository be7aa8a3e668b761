#include "dsm/access_history.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kumiki::dsm {
namespace {

using PageList = AccessHistory::PageList;

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

const AccessHistory::Accesses* AccessHistory::begin(std::uint64_t place) {
    now_ = nullptr;
    expecting_ = nullptr;
    candidates_.clear();
    if (place == 0 || (places_.size() == most_places && !places_.contains(place))) return nullptr;
    now_ = &places_[place];
    ++now_->intervals;
    std::erase_if(now_->patterns, [&](const Pattern& pattern) {
        return now_->intervals - pattern.seen > memory * now_->patterns.size();
    });
    if (now_->patterns.size() == 1) return expect(now_->patterns.front());
    for (Pattern& pattern : now_->patterns) candidates_.push_back(&pattern);
    return nullptr;
}

const AccessHistory::Accesses* AccessHistory::fault(std::size_t page) {
    std::erase_if(candidates_, [&](const Pattern* pattern) { return !pattern->accesses.contains(page); });
    if (candidates_.size() != 1) return nullptr;
    Pattern& only = *candidates_.front();
    candidates_.clear();
    return expect(only);
}

const AccessHistory::Accesses* AccessHistory::expect(Pattern& pattern) {
    if (pattern.left == 0) return nullptr; // this interval learns
    --pattern.left;
    pattern.seen = now_->intervals;
    expecting_ = &pattern;
    return &pattern.accesses;
}

void AccessHistory::end(Accesses faulted, const PageList& dropped) {
    Place* const place = std::exchange(now_, nullptr);
    Pattern* const expecting = std::exchange(expecting_, nullptr);
    candidates_.clear();
    if (place == nullptr) return;
    if (!dropped.empty()) {
        faulted.fetched = without(faulted.fetched, dropped);
        if (expecting != nullptr) expecting->accesses.fetched = without(expecting->accesses.fetched, dropped);
    }
    if (expecting == nullptr) learn(*place, std::move(faulted));
    else if (2 * faulted.count() > expecting->accesses.count()) expecting->left = 0; // the program has changed its ways
}

void AccessHistory::learn(Place& place, Accesses accesses) {
    const auto known =
        std::ranges::find_if(place.patterns, [&](const Pattern& pattern) { return agree(pattern.accesses, accesses); });
    if (known == place.patterns.end()) {
        if (place.patterns.size() == most_patterns)
            place.patterns.erase(std::ranges::min_element(place.patterns, {}, &Pattern::seen));
        place.patterns.push_back({.accesses = std::move(accesses), .seen = place.intervals});
        return;
    }
    known->accesses = std::move(accesses);
    known->seen = place.intervals;
    known->left = known->period;
    known->period = std::min(2 * known->period, longest);
}

} // namespace kumiki::dsm
