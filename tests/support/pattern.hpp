#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kumiki::tests {

/// Bytes that follow from a number. ThreadSanitizer does not look at how they are made: nobody else sees them yet, and
/// in tests with long messages that would take most of the time.
[[gnu::no_sanitize_thread]] inline std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t number) {
    std::vector<std::byte> made(bytes);
    std::byte* const data = made.data();
    for (std::size_t at = 0; at < bytes; ++at) data[at] = static_cast<std::byte>(at * 7 + (at >> 8) + number);
    return made;
}

/// Whether they are the same bytes: one comparison, where == of vectors of std::byte compares each by itself.
inline bool same_bytes(std::span<const std::byte> one, std::span<const std::byte> other) {
    return one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

} // namespace kumiki::tests
