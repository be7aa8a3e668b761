#include "linpack/routes.hpp"

#include <algorithm>
#include <bit>

namespace kumiki::linpack {

Route::Route(Shape shape, int receivers, bool modified, int rings)
    : shape_(shape),
      receivers_(receivers),
      first_(modified ? 2 : 1),
      rings_(rings),
      parts_(shape == Shape::scattered ? std::max(1, receivers - first_ + 1) : 1) {}

Route Route::of(Broadcast kind, int receivers) {
    const auto number = static_cast<int>(kind);
    const bool modified = number % 2 == 1;
    if (number >= static_cast<int>(Broadcast::scattered)) return {Shape::scattered, receivers, modified};
    return {Shape::rings, receivers, modified, number >= static_cast<int>(Broadcast::two_rings) ? 2 : 1};
}

Route Route::of(Swap kind, int receivers) {
    return {kind == Swap::exchange ? Shape::tree : Shape::rings, receivers, false};
}

std::vector<int> Route::next(int position, int part) const {
    std::vector<int> found;
    if (shape_ == Shape::tree) found = in_tree(position);
    else if (shape_ == Shape::rings) found = in_rings(position);
    else found = in_parts(position, part);
    if (position == 0 && first_ == 2 && receivers_ >= 1) found.insert(found.begin(), 1);
    return found;
}

std::vector<int> Route::arrivals(int position) const {
    // In the ring of parts a rank has its own first, then that of the rank before it, and so on.
    const int own = std::max(position - first_, 0);
    std::vector<int> order;
    for (int i = 0; i < parts_; ++i) order.push_back(position < first_ ? i : (own - i + parts_) % parts_);
    return order;
}

std::vector<int> Route::in_rings(int position) const {
    const int members = receivers_ - first_ + 1;
    const auto begins = [&](int ring) { return first_ + (members * ring + rings_ - 1) / rings_; };
    std::vector<int> found;
    for (int ring = 0; ring < rings_; ++ring) {
        const int begin = begins(ring), end = begins(ring + 1);
        if (begin >= end) continue;
        if (position == 0) found.push_back(begin);
        else if (position >= begin && position + 1 < end) found.push_back(position + 1);
    }
    return found;
}

/// Position p has it after as many steps as p has binary digits, and serves p + 2^i for all i from there on.
std::vector<int> Route::in_tree(int position) const {
    std::vector<int> found;
    for (auto i = std::bit_width(static_cast<unsigned>(position)); position + (1 << i) <= receivers_; ++i)
        found.push_back(position + (1 << i));
    return found;
}

/// Part i goes from the source to the i-th of the ring, and from there once around.
std::vector<int> Route::in_parts(int position, int part) const {
    const int members = receivers_ - first_ + 1, home = first_ + part;
    if (members <= 0) return {};
    if (position == 0) return {home};
    if (position < first_) return {};
    const int next = first_ + (position - first_ + 1) % members;
    if (next == home) return {};
    return {next};
}

} // namespace kumiki::linpack
