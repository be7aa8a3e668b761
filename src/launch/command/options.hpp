#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/command/request.hpp"

namespace kumiki::launch {

using Variables = std::vector<std::pair<std::string, std::string>>; ///< names and values

/// The contents of the command line.
struct Options {
    std::optional<int> ranks; ///< nothing: one, or one for each host or slot
    std::string hosts;        ///< the list of hosts; empty: only this host, or the hosts of the file
    std::string host_file;
    std::string rank_file;                 ///< empty: none
    DeviceRequest devices;                 ///< divided among the ranks of each host
    std::vector<std::string> remote_shell; ///< the words of the command that reaches a host, without the host's name
    std::vector<std::string> exports;      ///< names of further variables that the ranks on all hosts get
    Variables variables;                   ///< what the environment has besides, or instead, by `-x NAME=VALUE`
    bool label = false;
    bool verbose = false;
    bool openmp = false;              ///< the program runs on Kumiki's OpenMP runtime
    std::vector<std::string> maps;    ///< of --map: NAME=DISTRIBUTION
    Variables settings;               ///< environment variables that options set
    std::vector<std::string> program; ///< the program and its arguments, untouched; not empty

    bool names_hosts() const { return !hosts.empty() || !host_file.empty(); }
};

/// The text that the launcher prints instead of running anything: help, the version, or an error.
struct Reply {
    int code; ///< 0: the user asked for `text`; otherwise `text` is an error message
    std::string text;
};

/// Splits a command into words as a shell does: blanks separate words, quotes and backslashes protect characters.
/// Returns nothing if a quote is not closed.
std::optional<std::vector<std::string>> split_words(std::string_view command);

/// Reads the command line. Options end at the first word that is not an option: that is the program. A `--` before it
/// is skipped.
tl::expected<Options, Reply> parse_options(int argc, const char* const* argv);

} // namespace kumiki::launch
