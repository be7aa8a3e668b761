#pragma once

#include <string_view>
#include <vector>

#include "openmp/ranks/memory/objects.hpp"

namespace kumiki::openmp {

/// The program and its own libraries: those that use OpenMP, those that the user has named, and those that are linked
/// with one of these. The names are separated by commas; `all` names every library but those whose state belongs to a
/// process, because they start threads or are about MPI, networks, displays or devices.
std::vector<Object> objects_of_program(std::string_view named);

/// Whether the user may name it, so that it belongs to the program: not what belongs to the process, as the C library.
bool may_be_shared(const Object& library);

/// Whether it starts threads, or is about MPI, networks, displays or devices, so that its state belongs to a process.
bool is_about_process(const Object& library);

/// The first of these names that belongs to no library, or only to one that must stay private; empty: there is none.
std::string_view unusable_library(std::string_view named);

} // namespace kumiki::openmp
