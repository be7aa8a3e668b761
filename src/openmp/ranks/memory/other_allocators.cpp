#include "openmp/ranks/memory/other_allocators.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <sys/auxv.h>

#include "openmp/process.hpp"
#include "openmp/ranks/memory/objects.hpp"

namespace kumiki::openmp {
namespace {

[[noreturn]] void refuse_allocator(const Dl_info& file, const char* what) {
    char sentence[1000]; // a string would need memory, of which kind is the question
    std::snprintf(sentence, sizeof sentence,
                  "%s has %s of its own, whose memory would belong to one process; link the program without it, or run "
                  "it as one process (without hosts and KUMIKI_SHARED_COPIES=rank)",
                  file.dli_fname, what);
    refuse(sentence);
}

/// Whether the name belongs to a function there. A program that is not position-independent, and takes the address of
/// another file's function, has that name for its own call of it.
bool is_defined_at(const void* function) {
    Dl_info file{};
    void* symbol = nullptr;
    return dladdr1(function, &file, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr ||
           static_cast<const ElfW(Sym)*>(symbol)->st_shndx != SHN_UNDEF;
}

} // namespace

void refuse_other_allocators() {
    const void* const allocates = dlsym(RTLD_DEFAULT, "malloc");
    if (allocates != reinterpret_cast<const void*>(&malloc) && is_defined_at(allocates))
        refuse_allocator(file_at(allocates), "a malloc()");
    const Dl_info creates = file_at(dlsym(RTLD_DEFAULT, "_Znwm")); // operator new
    if (creates.dli_fname == nullptr) return;
    const std::string_view name = creates.dli_fname;
    if (name.find("/libstdc++.so") != name.npos || name.find("/libc++") != name.npos) return;
    const auto* const start = reinterpret_cast<const void*>(getauxval(AT_ENTRY)); // NOLINT: the kernel tells a number
    // A program's own one mostly calls malloc(), to count or to check.
    if (creates.dli_fbase != file_at(start).dli_fbase) refuse_allocator(creates, "an operator new");
}

} // namespace kumiki::openmp
