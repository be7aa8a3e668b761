#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kumiki::bench {

/// Data that show to which batch and position they belong: word i of batch `seed` is seed + i times an odd constant.
class Pattern {
public:
    explicit Pattern(std::uint64_t seed) : seed_(seed * 0xbf58476d1ce4e5b9u) {}

    void fill(std::span<std::byte> data) const {
        const std::size_t words = data.size() / sizeof(std::uint64_t);
        for (std::size_t i = 0; i < words; ++i) {
            const std::uint64_t value = word(i);
            std::memcpy(data.data() + i * sizeof value, &value, sizeof value);
        }
        const std::uint64_t last = word(words);
        std::memcpy(data.data() + words * sizeof last, &last, data.size() % sizeof last);
    }

    bool is_in(std::span<const std::byte> data) const {
        const std::size_t words = data.size() / sizeof(std::uint64_t);
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < words; ++i) {
            std::uint64_t value = 0;
            std::memcpy(&value, data.data() + i * sizeof value, sizeof value);
            wrong |= value ^ word(i);
        }
        const std::uint64_t last = word(words);
        return wrong == 0 && std::memcmp(data.data() + words * sizeof last, &last, data.size() % sizeof last) == 0;
    }

private:
    std::uint64_t word(std::size_t i) const { return seed_ + i * 0x9e3779b97f4a7c15u; }

    std::uint64_t seed_;
};

} // namespace kumiki::bench
