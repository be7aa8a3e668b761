#include "topology/ranges.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace kumiki::topology {
namespace {

constexpr int highest_number = 65535;

/// Reads a number from the beginning of `text` and removes it there; -1 if there is none.
int take_number(std::string_view& text) {
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0 || number > highest_number) return -1;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

} // namespace

Result<std::vector<int>> numbers_in(std::string_view text) {
    std::vector<int> numbers;
    std::vector<bool> seen(highest_number + 1);
    for (;;) {
        const int first = take_number(text);
        int last = first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            last = take_number(text);
        }
        if (first < 0 || last < first || (!text.empty() && text.front() != ','))
            return fail(KUMIKI_ERROR_ARGUMENT,
                        fmt::format("it must be a list of numbers up to {}, such as 0-3,8", highest_number));
        for (int number = first; number <= last; ++number) {
            if (seen[static_cast<std::size_t>(number)])
                return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("it names {} twice", number));
            seen[static_cast<std::size_t>(number)] = true;
            numbers.push_back(number);
        }
        if (text.empty()) return numbers;
        text.remove_prefix(1);
    }
}

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
