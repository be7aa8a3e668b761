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

/// At least three quarters of what was expected has happened again.
bool agree(const AccessHistory::Accesses& expected, const AccessHistory::Accesses& now) {
    const std::size_t both = common(expected.fetched, now.fetched) + common(expected.written, now.written);
    return 4 * both >= 3 * expected.count();
}

} // namespace

const AccessHistory::Accesses& AccessHistory::begin(IntervalPlace place) {
    static const Accesses nothing;
    now_ = place;
    expecting_ = expecting(by_visit_, place.visit);
    if (expecting_ == nullptr) expecting_ = expecting(by_code_, place.code);
    if (expecting_ == nullptr) return nothing;
    --expecting_->left;
    return expecting_->expected;
}

AccessHistory::Interval* AccessHistory::expecting(Intervals& intervals, std::uint64_t place) {
    const auto found = intervals.find(place);
    return found != intervals.end() && found->second.left != 0 ? &found->second : nullptr;
}

void AccessHistory::end(Accesses faulted, const PageList& dropped) {
    const IntervalPlace place = std::exchange(now_, {});
    Interval* const expecting = std::exchange(expecting_, nullptr);
    if (!dropped.empty()) {
        faulted.fetched = without(faulted.fetched, dropped);
        if (expecting != nullptr) expecting->expected.fetched = without(expecting->expected.fetched, dropped);
    }
    if (expecting != nullptr) { // if much else was needed, the program has changed its ways
        if (2 * faulted.count() > expecting->expected.count()) expecting->left = 0;
        return;
    }
    learn(by_visit_, place.visit, faulted);
    learn(by_code_, place.code, faulted);
}

void AccessHistory::learn(Intervals& intervals, std::uint64_t place, const Accesses& accesses) {
    if (place == 0 || (intervals.size() == most_places && !intervals.contains(place))) return;
    intervals[place].learn(accesses);
}

void AccessHistory::Interval::learn(Accesses accesses) {
    const bool repeats = expected.count() != 0 && agree(expected, accesses);
    left = repeats ? period : 0;
    period = repeats ? std::min(2 * period, longest) : shortest;
    expected = std::move(accesses);
}

} // namespace kumiki::dsm
