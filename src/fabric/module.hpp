#pragma once

#include <string_view>

#include "error/result.hpp"

namespace kumiki::fabric {

/// What to say when a part of the library that is loaded at run time is not there.
struct Module {
    const char* file;          ///< kumiki-ucx.so
    const char* function;      ///< that it exports
    std::string_view needed;   ///< why it is needed: the beginning of a sentence
    std::string_view to_build; ///< the package that it is built with
    std::string_view to_run;   ///< the package that it runs with
};

/// Loads the module that is installed beside the library, or in lib/ of a folder above for programs that have the
/// library inside; returns the function. It is never unloaded: its threads and exit handlers outlive what we know of
/// it.
Result<void*> load(const Module& module);

} // namespace kumiki::fabric
