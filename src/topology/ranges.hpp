#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"

namespace kumiki::topology {

/// Ascending numbers in the usual notation: {0, 1, 2, 3, 8} is "0-3,8"; an empty list is "none".
std::string as_ranges(const std::vector<int>& numbers);

/// The numbers in a text such as "0-3,8", in its order. Fails on any other text, and if a number occurs twice.
Result<std::vector<int>> numbers_in(std::string_view text);

/// A number of bytes in the largest binary unit in which it is at least 1: "48 KiB", "3.8 GiB".
std::string as_size(unsigned long long bytes);

} // namespace kumiki::topology
