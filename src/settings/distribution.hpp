#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"

namespace kumiki {

/// How an array is distributed over the ranks, as users write it (Omni/SCASH paper, 2.2: the mapping directive).
///
/// | text | meaning |
/// | --- | --- |
/// | `first` | each page to the rank that touches it next |
/// | `rank:2` | all to rank 2 |
/// | `block` | a part of equal length to each rank |
/// | `cyclic`, `cyclic:64K` | parts of a page, or of as many bytes, to one rank after the other |
/// | `[block:100][*:200]` | an array with 100 x 200 elements, the last dimension the densest: blocks of the first one |
/// | `[cyclic:100:4][*:200]` | the same, 4 of the first dimension to one rank after the other |
///
/// If several dimensions are distributed, the ranks form a grid, as square as their number allows, of which a dimension
/// that comes first has the longer side.
struct Distribution {
    enum class Kind { first, rank, parts };
    struct Dimension {
        enum class How { whole, block, cyclic };
        How how = How::block;
        std::uint64_t extent = 0; ///< elements; 0: the array is a row of bytes, and this its only dimension
        std::uint64_t length = 0; ///< elements of a part (cyclic); 0: a page of bytes
    };

    Kind kind = Kind::first;
    int rank = 0;
    std::vector<Dimension> dimensions; ///< of `parts`; at least one is not whole

    /// Fails with a sentence about the text.
    static Result<Distribution> from(std::string_view text);

    /// The elements that the dimensions say; 0: they are bytes.
    std::uint64_t elements() const;
    /// The elements of a dimension, of `parts` that is not a row of bytes, that belong together when so many ranks have
    /// the array; all if it is whole.
    std::uint64_t part_length(std::size_t dimension, int ranks) const;
    /// The rank, of `ranks`, that has the byte at `offset` of an array of so many bytes. Only of `rank` and `parts`.
    int owner(std::uint64_t offset, std::uint64_t bytes, int ranks) const;
};

/// A variable of a program, and how it is distributed: the program's address of its first byte, before it is loaded.
struct VariableHomes {
    std::uint64_t address = 0, bytes = 0;
    Distribution distribution;
};

/// A variable whose rows are numbered like the iterations of loops: the loops' iterations go to the rank that is the
/// home of their row (the paper's affinity schedule).
struct LoopRows {
    std::uint64_t address = 0, bytes = 0;
    std::int64_t low = 0, high = 0; ///< the first and the last number

    std::uint64_t row_bytes() const { return bytes / static_cast<std::uint64_t>(high - low + 1); }
};

/// How the ranks share loops that the runtime deals out.
struct LoopSchedule {
    enum class Kind {
        threads,  ///< each rank begins with a part as long as its share of the threads
        measured, ///< as long as what it has done of such loops before
        affinity, ///< with the iterations whose rows it is the home of
        monotonic ///< all ranks take from one part, as if the program said monotonic
    };
    Kind kind = Kind::threads;
    std::string name; ///< of the variable with the rows
    std::int64_t low = 0, high = 0;

    /// From "threads", "measured", "monotonic", "affinity:NAME[ROWS]" or "affinity:NAME[LOW:HIGH]".
    static Result<LoopSchedule> from(std::string_view text);
};

/// The text in which the launcher passes both on to the ranks: "4f40+8000=block;4f40+8000=rows:0:99;..." with addresses
/// and lengths in base 16.
std::string variable_homes_text(std::uint64_t address, std::uint64_t bytes, std::string_view what);
std::string rows_text(const LoopSchedule& affinity);
struct KnownVariables {
    std::vector<VariableHomes> homes;
    std::optional<LoopRows> rows;
};
Result<KnownVariables> known_variables_from(std::string_view text);

} // namespace kumiki
