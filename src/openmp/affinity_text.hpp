#pragma once

#include <string>
#include <string_view>

#include "openmp/team.hpp"

/// Where a thread runs, in words.
namespace kumiki::openmp {

/// By a format of OpenMP, whose fields are %n or %{thread_num} and others; an empty one stands for that of the process
/// (OMP_AFFINITY_FORMAT).
std::string described(std::string_view format, const Member& me);

/// Prints a line on standard error, where libgomp prints it, too.
void print_line(std::string text);

/// What OMP_DISPLAY_AFFINITY asks for: prints the line of a thread that begins a region, unless it is the same as in
/// its last one.
void show_if_changed(Member& me);

} // namespace kumiki::openmp
