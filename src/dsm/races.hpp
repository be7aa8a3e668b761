#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace kumiki::dsm {

/// The first write of an interval to a page.
struct Writer {
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

    std::uint64_t code = 0; ///< the instruction; or, if `at` is nowhere, the function of a parallel region; 0: unknown
    std::uint64_t at = nowhere; ///< bytes from the beginning of the array; nowhere: the write did not fault
};

/// What a rank wrote to a page in one of its intervals, which its releases and acquisitions divide.
struct PageWrites {
    std::uint32_t array, rank;
    std::uint64_t page;
    std::uint64_t interval; ///< its number, from 1 on at each rank
    Writer first;
    std::span<const std::uint64_t> seen; ///< by rank: the last interval that ended before this one, as locks order them
    std::span<const std::uint64_t> mask; ///< a bit for each byte of the page

    /// Whether the other rank had finished its interval, and passed a lock on, before this one ended.
    bool follows(const PageWrites& other) const { return seen[other.rank] >= other.interval; }

    /// As words that can travel, and back: reading takes the words away from the beginning of `words`.
    void append_to(std::vector<std::uint64_t>& words) const;
    static PageWrites read(std::span<const std::uint64_t>& words, std::size_t ranks);
};

/// Bytes that two ranks wrote without order, in one array, by the same two instructions.
struct Race {
    std::uint64_t array;                ///< the address at rank 0 where it begins
    std::array<std::uint32_t, 2> ranks; ///< the lower one first
    std::array<std::uint64_t, 2> code;  ///< as in Writer
    std::array<bool, 2> faulted{};      ///< whether `code` is an instruction that wrote
    std::array<bool, 2> exact{};        ///< whether the byte that it wrote first is one of those below
    std::uint64_t begin = 0, end = 0;   ///< the first of these bytes, and the one behind the last, from `array` on
    std::uint64_t intervals = 1;        ///< between barriers, in which they were written so
    std::uint64_t barriers = 0;         ///< before the first of these intervals
    std::uint64_t last = 0;             ///< before the last one
};

/// The races of a job, as rank 0 collects them.
class Races {
public:
    /// More are only counted.
    static constexpr std::size_t most = 1000;
    /// Of one array, by the same instructions of the same ranks; bytes elsewhere then belong to the last one.
    static constexpr std::size_t most_pieces = 32;

    /// Looks for bytes that two ranks wrote without order since the last barrier. `writes`: of pages that several ranks
    /// wrote; `address_of` tells where an array begins. Returns whether there are races of a new kind.
    bool find(std::span<const PageWrites> writes, std::uint64_t barriers,
              const std::function<std::uint64_t(std::uint32_t array)>& address_of);

    /// In the order in which they were found.
    const std::vector<Race>& all() const { return found_; }
    std::uint64_t others() const { return others_; }
    /// Some writes have not been compared, because a rank had no room for them.
    void miss() { complete_ = false; }
    bool complete() const { return complete_; }
    /// For the tool (tool/kumiki/explain/races.py).
    std::string as_json() const;

private:
    using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
    bool compare(const PageWrites& one, const PageWrites& other, std::uint64_t barriers, std::uint64_t address);
    bool add(const Race& race);

    std::vector<Race> found_;
    std::map<Key, std::vector<std::size_t>> places_; ///< in `found_`
    std::uint64_t others_ = 0;
    bool complete_ = true;
};

} // namespace kumiki::dsm
