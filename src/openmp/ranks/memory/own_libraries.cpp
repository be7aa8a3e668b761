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

/// A library that uses one of these is about the process, too: its threads run in one process, as OpenBLAS's do.
constexpr std::string_view starting_functions[] = {
    "pthread_create", "thrd_create",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"}; // of std::thread

constexpr std::string_view every_library = "all";

bool is_named(const Object& object, std::string_view names) {
    return std::ranges::any_of(text::split(names, ','),
                               [&object](auto name) { return !name.empty() && object.has_name(name); });
}

bool names_all(std::string_view names) {
    return std::ranges::any_of(text::split(names, ','), [](auto name) { return name == every_library; });
}

bool uses_openmp(const Object& object) {
    return std::ranges::any_of(object.needed(),
                               [](auto library) { return std::ranges::find(runtimes, library) != std::end(runtimes); });
}

} // namespace

std::vector<Object> objects_of_program(std::string_view named) {
    std::vector<Object> found = loaded_objects();
    const bool all = names_all(named);
    const auto belongs = [&](const Object& object) {
        return may_be_shared(object) &&
               (uses_openmp(object) || is_named(object, named) || (all && !is_about_process(object)));
    };
    const auto first_of_others = std::partition(found.begin() + 1, found.end(), belongs);
    std::vector<Object> others(first_of_others, found.end());
    found.erase(first_of_others, found.end());
    const auto uses_one_found = [&found](const Object& object) {
        return may_be_shared(object) && std::any_of(found.begin() + 1, found.end(),
                                                    [&object](const Object& library) { return object.needs(library); });
    };
    while (!all) {
        const auto next = std::ranges::find_if(others, uses_one_found);
        if (next == others.end()) break;
        found.push_back(*next);
        others.erase(next);
    }
    return found;
}

bool is_about_process(const Object& library) {
    return library.uses_one_of(starting_functions) || std::ranges::any_of(process_libraries, [&library](auto prefix) {
               return library.plain_name().starts_with(prefix);
           });
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
