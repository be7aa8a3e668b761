#include "kernels/common/split_choice.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace kumiki::kernels {

void SplitChoice::add_to(CLI::App& program) {
    const std::map<std::string, Split> splits{{rows_name, Split::rows}, {tiles_name, Split::tiles}};
    program
        .add_option("--split", split,
                    std::string("how the grid is cut: ") + rows_name + " (1-D, the paper's) or " + tiles_name +
                        " (2-D)")
        ->transform(CLI::CheckedTransformer(splits).description(""))
        ->default_str(rows_name);
}

std::string SplitChoice::refusal(int workers) const {
    const std::string what = "the grid cannot be cut for " + std::to_string(workers) + " workers (ranks x threads)";
    if (split == Split::tiles)
        return what + " with --split " + tiles_name + "; give a larger --size or another number of workers";
    if (*tiles_name == 0) return what + "; give a larger --size or fewer workers";
    return what + " with --split " + rows_name + "; give a larger --size, fewer workers, or --split " + tiles_name;
}

void SplitChoice::add_to(JobReport& report) const {
    if (split == Split::tiles) report.parameters["split"] = tiles_name;
}

} // namespace kumiki::kernels
