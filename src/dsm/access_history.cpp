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

const AccessHistory::Accesses& AccessHistory::begin(std::uint64_t place) {
    static const Accesses nothing;
    now_ = nullptr;
    if (place == 0 || (intervals_.size() == most_places && !intervals_.contains(place))) return nothing;
    now_ = &intervals_[place];
    learns_ = now_->left == 0;
    if (learns_) return nothing;
    --now_->left;
    return now_->expected;
}

void AccessHistory::end(Accesses faulted, const PageList& dropped) {
    if (now_ == nullptr) return;
    Interval& interval = *std::exchange(now_, nullptr);
    if (!dropped.empty()) {
        faulted.fetched = without(faulted.fetched, dropped);
        interval.expected.fetched = without(interval.expected.fetched, dropped);
    }
    if (!learns_) { // if much else was needed, the program has changed its ways
        if (2 * faulted.count() > interval.expected.count()) interval.left = 0;
        return;
    }
    const bool repeats = interval.expected.count() != 0 && agree(interval.expected, faulted);
    interval.left = repeats ? interval.period : 0;
    interval.period = repeats ? std::min(2 * interval.period, longest) : shortest;
    interval.expected = std::move(faulted);
}

} // namespace kumiki::dsm
