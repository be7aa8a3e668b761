#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace kumiki::launch {

using Variables = std::vector<std::pair<std::string, std::string>>; ///< names and values

/// What the command line says.
struct Options {
    int ranks = 1;
    bool label = false;
    bool verbose = false;
    Variables settings;               ///< environment variables that options set
    std::vector<std::string> program; ///< the program and its arguments, untouched; not empty
};

/// What to say instead of running anything: help, the version, or what is wrong.
struct Reply {
    int code; ///< 0: `text` is what the user asked for; otherwise it is the complaint
    std::string text;
};

/// Reads the command line. Options end at the first word that is no option, which is the program; a `--` before it is
/// skipped.
tl::expected<Options, Reply> parse_options(int argc, const char* const* argv);

} // namespace kumiki::launch
