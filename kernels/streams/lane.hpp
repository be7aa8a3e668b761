#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/common/aligned.hpp"

namespace kumiki::kernels::streams {

/// The bytes that a pass moves, each once: bytes that are only `read`, and bytes that are `update`d in place.
struct Traffic {
    std::size_t read = 0, update = 0;
};

/// One worker's share of the memory that passes go over, in whole cache lines.
///
/// Every other pass runs backwards, as the programs' sweeps do: the next pass finds in the cache what the previous one
/// touched last. So a problem that fits into a cache is bounded by that cache, and the bound of one that nearly fits is
/// no lower than it must be.
class Lane {
public:
    /// The share of worker `index` of `workers`. Throws std::runtime_error if there is not enough memory.
    Lane(const Traffic& of_all, std::size_t workers, std::size_t index);

    /// Gives all words their first values; to be called once, by the worker, so that the memory is near it.
    void fill();

    /// Reads every line of the read part, and adds 1 to every word of the updated part.
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
    std::size_t pieces_; ///< in which a pass goes over both parts, side by side
    std::uint64_t passes_ = 0, sum_ = 0;
};

} // namespace kumiki::kernels::streams
