#pragma once

#include <dlfcn.h>

namespace kumiki::platform {

/// The function of this name that would have been called without ours: for functions that stand before those of the C
/// library. The linkage is internal, because dlsym() takes the library of its caller for the one that comes before.
template <class Function>
static Function* next_function(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

} // namespace kumiki::platform
