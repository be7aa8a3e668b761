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
    tiles, ///< rows and columns: 2-D, the cut with the smallest surface between tiles
};

/// The selected cut of a program's grid, and the program's names for its two kinds of cut.
struct SplitChoice {
    SplitChoice(Split chosen = Split::rows, const char* rows = "rows", const char* tiles = "tiles")
        : split(chosen), rows_name(rows), tiles_name(tiles) {}

    Split split;
    const char *rows_name, *tiles_name;

    /// For a program that can cut only rows.
    static SplitChoice rows_alone() { return {Split::rows, "rows", ""}; }

    void add_to(CLI::App& program);
    /// Reports that a grid cannot be cut in this way for so many workers, and the remedy.
    std::string refusal(int workers) const;
    /// Names the cut in the rows of a measurement; the paper's cut is not named.
    void add_to(JobReport& report) const;
};

} // namespace kumiki::kernels
