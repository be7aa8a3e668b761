#include "core.hpp"

namespace front {
namespace {

std::vector<double> kept(3);

} // namespace

const std::vector<double>& squares(int count) {
    kept.assign(count, 1.0);
    const double all = core::weighted_sum(kept);
    for (int i = 0; i < count; ++i) kept[i] = static_cast<double>(i) * i / all;
    return kept;
}

} // namespace front
