#include "openmp/ranks/memory/own_libraries.hpp"

#include <algorithm>

#include "text/text.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::string_view runtimes[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};

/// What may not be shared, because it belongs to the process, or because this library itself uses it.
constexpr std::string_view private_libraries[] = {"linux-vdso",
                                                  "ld-linux-x86-64",
                                                  "libc",
                                                  "libm",
                                                  "libpthread",
                                                  "libgcc_s",
                                                  "libstdc++",
                                                  "libgfortran",
                                                  "libgomp",
                                                  "libomp",
                                                  "libiomp5",
                                                  "libkumiki",
                                                  "libfmt",
                                                  "libZydis",
                                                  "libZycore",
                                                  "libkumiki-openmp",
                                                  "libkumiki-openmp-ranks"};

/// How the names begin of libraries whose state is about the process: its connections, windows and devices. Kumiki's
/// own network needs some of them before any memory is shared. They are the program's only if the user names them.
constexpr std::string_view process_libraries[] = {
    "libmpi", "libopen-rte", "libopen-pal", "libpmix",   "libucp",      "libuct",  "libucs",
    "libucm", "libfabric",   "libibverbs",  "librdmacm", "libhwloc",    "libnuma", "libudev",
    "libX",   "libxcb",      "libGL",       "libEGL",    "libwayland-", "libcuda", "libOpenCL"};

/// So are those that keep threads, such as OpenBLAS: these run in one process.
constexpr std::string_view starting_functions[] = {
    "pthread_create", "thrd_create",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"}; // of std::thread

constexpr std::string_view every_library = "all";

bool is_named(const Object& object, std::string_view names) {
    return std::ranges::any_of(text::split(names, ','),
                               [&object](auto name) { return !name.empty() && object.has_name(name); });
}

bool is_about_process(const Object& object) {
    return object.uses_one_of(starting_functions) || std::ranges::any_of(process_libraries, [&object](auto prefix) {
               return object.plain_name().starts_with(prefix);
           });
}

bool uses_openmp(const Object& object) {
    return std::ranges::any_of(object.needed(),
                               [](auto library) { return std::ranges::find(runtimes, library) != std::end(runtimes); });
}

} // namespace

std::vector<Object> objects_of_program(std::string_view named) {
    std::vector<Object> others = loaded_objects();
    std::vector<Object> found{others.front()};
    others.erase(others.begin());
    const bool all = std::ranges::any_of(text::split(named, ','), [](auto name) { return name == every_library; });
    const auto belongs = [&](const Object& object) {
        if (!may_be_shared(object)) return false;
        if (uses_openmp(object) || is_named(object, named)) return true;
        if (all) return !is_about_process(object);
        return std::any_of(found.begin() + 1, found.end(),
                           [&object](const Object& library) { return object.needs(library); });
    };
    for (;;) {
        const auto next = std::ranges::find_if(others, belongs);
        if (next == others.end()) return found;
        found.push_back(*next);
        others.erase(next);
    }
}

bool may_be_shared(const Object& library) {
    return std::ranges::none_of(private_libraries, [&library](auto name) { return library.has_name(name); });
}

std::string_view unusable_library(std::string_view named) {
    std::vector<Object> libraries = loaded_objects();
    libraries.erase(libraries.begin());
    for (const std::string_view name : text::split(named, ',')) {
        const auto is_it = [name](const Object& library) { return library.has_name(name) && may_be_shared(library); };
        if (!name.empty() && name != every_library && std::ranges::none_of(libraries, is_it)) return name;
    }
    return {};
}

} // namespace kumiki::openmp
