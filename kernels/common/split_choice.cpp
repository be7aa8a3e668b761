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

void SplitChoice::add_to(JobReport& report) const {
    if (split == Split::tiles) report.parameters["split"] = tiles_name;
}

} // namespace kumiki::kernels
