#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/common/aligned.hpp"

namespace kumiki::kernels::streams {

/// What a pass moves, in bytes, each once: `read` and left as it is, or `update`d where it lies.
struct Traffic {
    std::size_t read = 0, update = 0;
};

/// One worker's share of the memory that passes go over, in whole cache lines.
///
/// Every other pass runs backwards, as the programs' sweeps do: what a pass touched last, and the cache still holds,
/// the next one finds there. So a problem that fits in a cache is bounded by that cache, and one that nearly fits is
/// not bounded by more than it must be.
class Lane {
public:
    /// The share of worker `index` of `workers`. Throws std::runtime_error where there is no such memory.
    Lane(const Traffic& of_all, std::size_t workers, std::size_t index);

    /// Gives all words their first values; to be called once, by the worker, so that the memory lies near it.
    void fill();

    /// Reads every line that is read, and adds 1 to every word that is updated.
    void pass();

    /// Whether all passes so far have read and updated everything.
    bool right() const;

private:
    using Line = std::array<std::uint64_t, line_bytes / sizeof(std::uint64_t)>;
    using Lines = AlignedVector<Line>;

    static std::uint64_t sum_of(const Lines& lines, std::size_t begin, std::size_t end);
    static void count_up(Lines& lines, std::size_t begin, std::size_t end);

    std::size_t read_lines_, updated_lines_;
    Lines read_, updated_;
    std::size_t pieces_; ///< in which a pass goes over both, side by side
    std::uint64_t passes_ = 0, sum_ = 0;
};

} // namespace kumiki::kernels::streams
