#include "topology/ranges.hpp"

#include <array>
#include <fmt/format.h>
#include <string_view>

namespace kumiki::topology {

std::string as_ranges(const std::vector<int>& numbers) {
    if (numbers.empty()) return "none";
    std::string text;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += first == last ? fmt::format("{}", numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
        first = last + 1;
    }
    return text;
}

std::string as_size(unsigned long long bytes) {
    constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    const bool whole = value == static_cast<double>(static_cast<unsigned long long>(value));
    return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.1f} {}", value, units[unit]);
}

} // namespace kumiki::topology
