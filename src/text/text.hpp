#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace kumiki::text {

/// The parts of a text between separators, which may be empty; a text without a separator is one part.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// The text without blanks, tabulators and ends of lines around it.
inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n\v\f\r";
    const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The number that a whole text is, as std::from_chars reads it: without blanks and without a plus sign. Nothing if the
/// text is none, if anything follows the number, or if Number cannot hold it. `base` is for whole numbers.
template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
    Number value{};
    const char* const end = text.data() + text.size();
    std::from_chars_result read{};
    if constexpr (std::is_integral_v<Number>) read = std::from_chars(text.data(), end, value, base);
    else read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) return {};
    return value;
}

} // namespace kumiki::text
