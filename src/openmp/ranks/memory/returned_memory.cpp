// Functions of the C library that return memory which the program frees, as getline() does. The C library allocates
// it, so only this process would have it; the program gets a copy in its heap.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <glob.h>
#include <span>
#include <unistd.h>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "platform/kernel_memory.hpp"
#include "platform/next_function.hpp"

namespace {

using namespace kumiki::platform::kernel_memory;

/// Moves memory of the C library into the program's heap. Returns `memory` itself if it is there already, if the caller
/// is not the program, or if the heap has no room.
template <class T>
T* shared(const void* caller, T* memory, std::size_t bytes) {
    using namespace kumiki::openmp;
    if (memory == nullptr || is_in_heap(memory) || !is_program(caller)) return memory;
    void* const copy = allocate(caller, bytes);
    if (copy == nullptr) return memory;
    std::memcpy(copy, memory, bytes);
    std::free(memory);
    return static_cast<T*>(copy);
}

char* shared_text(const void* caller, char* text) {
    return text == nullptr ? nullptr : shared(caller, text, std::strlen(text) + 1);
}

/// For functions that return the length of a text or -1, and the text in `to`.
int with_shared_text(const void* caller, int length, char** to) {
    if (length >= 0) *to = shared(caller, *to, static_cast<std::size_t>(length) + 1);
    return length;
}

} // namespace

#define KUMIKI_GETLINE(name, parameters, arguments)                                                                    \
    KUMIKI_ENTRY ssize_t name parameters {                                                                             \
        static auto* const real = kumiki::platform::next_function(&name, #name);                                       \
        const ssize_t length = real arguments;                                                                         \
        if (length >= 0) *text = shared(KUMIKI_CALLER, *text, *bytes);                                                 \
        return length;                                                                                                 \
    }
KUMIKI_GETLINE(getline, (char** text, std::size_t* bytes, FILE* stream), (text, bytes, stream))
KUMIKI_GETLINE(getdelim, (char** text, std::size_t* bytes, int last, FILE* stream), (text, bytes, last, stream))
KUMIKI_GETLINE(__getdelim, (char** text, std::size_t* bytes, int last, FILE* stream), (text, bytes, last, stream))

// Those with `chk` are what the others become with _FORTIFY_SOURCE.
extern "C" int __vasprintf_chk(char** to, int flag, const char* format, std::va_list rest);
extern "C" char* __realpath_chk(const char* path, char* to, std::size_t bytes);

KUMIKI_ENTRY int vasprintf(char** to, const char* format, std::va_list rest) {
    static auto* const real = kumiki::platform::next_function(&vasprintf, "vasprintf");
    return with_shared_text(KUMIKI_CALLER, real(to, format, rest), to);
}
KUMIKI_ENTRY int __vasprintf_chk(char** to, int flag, const char* format, std::va_list rest) {
    static auto* const real = kumiki::platform::next_function(&__vasprintf_chk, "__vasprintf_chk");
    return with_shared_text(KUMIKI_CALLER, real(to, flag, format, rest), to);
}
KUMIKI_ENTRY int asprintf(char** to, const char* format, ...) {
    static auto* const real = kumiki::platform::next_function(&vasprintf, "vasprintf");
    std::va_list rest;
    va_start(rest, format);
    const int length = real(to, format, rest);
    va_end(rest);
    return with_shared_text(KUMIKI_CALLER, length, to);
}
KUMIKI_ENTRY int __asprintf_chk(char** to, int flag, const char* format, ...) {
    static auto* const real = kumiki::platform::next_function(&__vasprintf_chk, "__vasprintf_chk");
    std::va_list rest;
    va_start(rest, format);
    const int length = real(to, flag, format, rest);
    va_end(rest);
    return with_shared_text(KUMIKI_CALLER, length, to);
}

KUMIKI_ENTRY char* realpath(const char* path, char* to) {
    static auto* const real = kumiki::platform::next_function(&realpath, "realpath");
    char* const found = real(path, to);
    return to != nullptr ? found : shared_text(KUMIKI_CALLER, found);
}
KUMIKI_ENTRY char* __realpath_chk(const char* path, char* to, std::size_t bytes) {
    static auto* const real = kumiki::platform::next_function(&__realpath_chk, "__realpath_chk");
    char* const found = real(path, to, bytes);
    return to != nullptr ? found : shared_text(KUMIKI_CALLER, found);
}
KUMIKI_ENTRY char* canonicalize_file_name(const char* path) {
    static auto* const real = kumiki::platform::next_function(&canonicalize_file_name, "canonicalize_file_name");
    return shared_text(KUMIKI_CALLER, real(path));
}
KUMIKI_ENTRY char* getcwd(char* to, std::size_t bytes) {
    static auto* const real = kumiki::platform::next_function(&getcwd, "getcwd");
    if (to != nullptr) return make_pointer([=] { return real(to, bytes); }, Written{to, bytes});
    char* const made = real(to, bytes);
    return made == nullptr ? nullptr : shared(KUMIKI_CALLER, made, std::max(bytes, std::strlen(made) + 1));
}
KUMIKI_ENTRY char* get_current_dir_name() {
    static auto* const real = kumiki::platform::next_function(&get_current_dir_name, "get_current_dir_name");
    return shared_text(KUMIKI_CALLER, real());
}

/// scandir() also gives the path to the kernel.
template <class Entry, class Real, class... Functions>
static int scan(const void* caller, Real* real, const char* path, Entry*** to, Functions... functions) {
    const int count = make([=] { return real(path, to, functions...); }, Text{path});
    if (count < 0) return count;
    for (Entry*& entry : std::span(*to, static_cast<std::size_t>(count)))
        entry = shared(caller, entry, entry->d_reclen);
    *to = shared(caller, *to, static_cast<std::size_t>(count) * sizeof **to);
    return count;
}
#define KUMIKI_SCANDIR(name, Entry)                                                                                    \
    KUMIKI_ENTRY int name(const char* path, Entry*** to, int (*wanted)(const Entry*),                                  \
                          int (*order)(const Entry**, const Entry**)) {                                                \
        static auto* const real = kumiki::platform::next_function(&name, #name);                                       \
        return scan(KUMIKI_CALLER, real, path, to, wanted, order);                                                     \
    }
KUMIKI_SCANDIR(scandir, dirent)
KUMIKI_SCANDIR(scandir64, dirent64)

/// The pointers lie behind `gl_offs` empty ones, and before another one.
template <class Found>
static int with_shared_paths(const void* caller, int result, int flags, Found& found) {
    if (result != 0 || found.gl_pathv == nullptr) return result;
    const std::size_t before = (flags & GLOB_DOOFFS) != 0 ? found.gl_offs : 0;
    const std::span paths(found.gl_pathv, before + found.gl_pathc + 1);
    for (char*& path : paths.subspan(before, found.gl_pathc)) path = shared_text(caller, path);
    found.gl_pathv = shared(caller, found.gl_pathv, paths.size_bytes());
    return result;
}
#define KUMIKI_GLOB(name, Found)                                                                                       \
    KUMIKI_ENTRY int name(const char* pattern, int flags, int (*failed)(const char*, int), Found* to) {                \
        static auto* const real = kumiki::platform::next_function(&name, #name);                                       \
        return with_shared_paths(KUMIKI_CALLER, real(pattern, flags, failed, to), flags, *to);                         \
    }
KUMIKI_GLOB(glob, glob_t)
KUMIKI_GLOB(glob64, glob64_t)
