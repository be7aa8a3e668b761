#include "openmp/ranks/languages.hpp"

#include <dlfcn.h>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"

namespace kumiki::openmp {
namespace {

/// The constructor of std::ios_base::Init, of which each file that includes <iostream> has an object up to GCC 12. The
/// first one makes the standard streams and the facets that all streams use. A program of another language has none.
void make_standard_streams() {
    const auto construct = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"));
    char object = 0; // the class has no members, and what was made stays when it is not destroyed
    if (construct != nullptr) construct(&object);
}

} // namespace

void prepare_languages() { make_standard_streams(); }

} // namespace kumiki::openmp

/// std::ios_base::sync_with_stdio, which would give std::cout a buffer of this process, whose address all would use.
/// So the streams stay what they are: what they print goes to those of the C library. (The library that is linked into
/// the runtime has this function, too, so it has another name here.)
KUMIKI_ENTRY bool kumiki_sync_with_stdio(bool sync) {
    if (kumiki::openmp::process().others() != nullptr) return true;
    static const auto next = reinterpret_cast<bool (*)(bool)>(dlsym(RTLD_NEXT, "_ZNSt8ios_base15sync_with_stdioEb"));
    return next(sync);
}
__asm__(".symver kumiki_sync_with_stdio, _ZNSt8ios_base15sync_with_stdioEb@GLIBCXX_3.4, remove");
