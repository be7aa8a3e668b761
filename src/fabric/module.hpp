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

/// Finds its file, next to the installed library, or in lib/ of a parent folder for programs that contain the library.
Result<std::filesystem::path> locate(const Module& module);

/// Loads it and returns the function. It is never unloaded, because its threads and exit handlers may run until the
/// process ends.
Result<void*> load(const Module& module);

} // namespace kumiki::fabric
