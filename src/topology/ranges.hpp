#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"

namespace kumiki::topology {

/// Ascending numbers as people write them: {0, 1, 2, 3, 8} is "0-3,8"; none is "none".
std::string as_ranges(const std::vector<int>& numbers);

/// The numbers that a text such as "0-3,8" names, in its order. Fails on any other text, and when a number is named
/// twice.
Result<std::vector<int>> numbers_in(std::string_view text);

/// A number of bytes with the largest binary unit that leaves it at least 1: "48 KiB", "3.8 GiB".
std::string as_size(unsigned long long bytes);

} // namespace kumiki::topology
