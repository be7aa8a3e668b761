#pragma once

#include <span>
#include <string>

#include "error/result.hpp"
#include "launch/command/elf_file.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// A program that is to run as so many processes.
struct Program {
    const ElfFile& file;
    const std::string& name;
    int processes;
};

/// Finds the variables that --map (NAME=HOMES) and the schedule name in a program, and returns what the ranks need to
/// know (settings/distribution.hpp). Fails with a sentence if there is no such variable, or it cannot be distributed
/// so. Where a touch decides homes, variables that are shorter than a page stay at rank 0.
Result<std::string> variable_homes(const Program& program, std::span<const std::string> maps, const Settings& settings);

} // namespace kumiki::launch
