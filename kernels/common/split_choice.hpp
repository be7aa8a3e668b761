#pragma once

#include <string>

#include "kernels/common/job_report.hpp"

namespace CLI {
class App;
}

namespace kumiki::kernels {

/// How a grid is cut for the workers.
enum class Split {
    rows,  ///< contiguous rows each: the paper's 1-D decomposition (F61 and F63 to F65)
    tiles, ///< rows and columns: 2-D, of all such cuts the one with the smallest surface between tiles
};

/// The cut of a program's grid, as the command line chooses it, and what the program calls its two ways.
struct SplitChoice {
    SplitChoice(Split chosen = Split::rows, const char* rows = "rows", const char* tiles = "tiles")
        : split(chosen), rows_name(rows), tiles_name(tiles) {}

    Split split;
    const char *rows_name, *tiles_name;

    /// The choice of a program that can only cut rows.
    static SplitChoice rows_alone() { return {Split::rows, "rows", ""}; }

    void add_to(CLI::App& program);
    /// Says that a grid cannot be cut so for so many workers, and what to do about it.
    std::string refusal(int workers) const;
    /// Names the cut in the rows of a measurement; the paper's goes without saying.
    void add_to(JobReport& report) const;
};

} // namespace kumiki::kernels
