#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace kumiki::accelerator {

/// The words of a text between separators; a text without one is one word.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

} // namespace kumiki::accelerator
