#pragma once

#include <filesystem>
#include <string_view>

#include "error/result.hpp"

namespace kumiki::fabric {

/// A part of the library that only some jobs need, with the texts for the error when it is missing.
struct Module {
    const char* file;          ///< kumiki-ucx.so
    const char* function;      ///< the name of the exported function; null for a program
    std::string_view needed;   ///< the beginning of a sentence that says why it is needed
    std::string_view to_build; ///< the package needed to build it
    std::string_view to_run;   ///< the package needed to run it
};

/// Whose functions a module and its libraries call where the program has functions of the same names, such as an
/// `fopen` of its own: the program's, as usual, or those of the module's libraries.
enum class Calls { program_first, libraries_first };

/// Finds its file, next to the installed library, or in lib/ of a parent folder for programs that contain the library.
Result<std::filesystem::path> locate(const Module& module);

/// Loads it and returns the function. It is never unloaded, because its threads and exit handlers may run until the
/// process ends. What has been loaded once stays as it is: later calls return the function.
Result<void*> load(const Module& module, Calls calls = Calls::program_first);

} // namespace kumiki::fabric
