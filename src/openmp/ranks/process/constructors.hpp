#pragma once

#include <string_view>

namespace kumiki::openmp {

// The functions that the dynamic linker runs when it has loaded an object, and at the end of the process (of C and
// C++).

/// Hides the constructors of the program's own libraries from the dynamic linker, which would run them in every process
/// before these share any memory. Must be called before they run. `libraries`: as for objects_of_program().
void hold_constructors(std::string_view libraries);

/// Runs those, libraries before the ones that need them, with what they expect as arguments.
void run_held_constructors(int count, char** arguments, char** environment);

/// Runs the destructors of the program and of its own libraries, and hides them from the dynamic linker, because they
/// may use memory that is elsewhere: it would run them when the ranks have left each other, or never.
void run_program_destructors();

/// The same for another library, by a part of its name.
void run_destructors_of(std::string_view library);

} // namespace kumiki::openmp
