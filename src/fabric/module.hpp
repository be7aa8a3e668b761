#pragma once

#include <filesystem>
#include <string_view>

#include "error/result.hpp"

namespace kumiki::fabric {

/// A part of the library that only some jobs need, and what to say when it is not there.
struct Module {
    const char* file;          ///< kumiki-ucx.so
    const char* function;      ///< that it exports; null for a program
    std::string_view needed;   ///< why it is needed: the beginning of a sentence
    std::string_view to_build; ///< the package that it is built with
    std::string_view to_run;   ///< the package that it runs with
};

/// Where its file is: installed beside the library, or in lib/ of a folder above for programs that have the library
/// inside.
Result<std::filesystem::path> locate(const Module& module);

/// Loads it; returns the function. It is never unloaded: its threads and exit handlers outlive what we know of it.
Result<void*> load(const Module& module);

} // namespace kumiki::fabric
