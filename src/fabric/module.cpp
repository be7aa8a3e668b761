#include "fabric/module.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>
#include <utility>

namespace kumiki::fabric {
namespace {

std::optional<std::filesystem::path> find(const char* name) {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&load), &here) == 0) return {};
    std::error_code error;
    auto folder = std::filesystem::canonical(here.dli_fname, error).parent_path();
    if (const auto beside = folder / name; std::filesystem::exists(beside, error)) return beside;
    for (; folder.has_relative_path(); folder = folder.parent_path())
        if (const auto found = folder / "lib" / name; std::filesystem::exists(found, error)) return found;
    return {};
}

/// If the program uses `environ`, the linker has made a variable of the program of it. Libraries that look at the C
/// library first find that one's own variable, which nobody has set.
void set_environment_of_c_library() {
    void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    if (auto* const own = static_cast<char***>(dlsym(library, "environ"))) *own = environ;
}

} // namespace

Result<std::filesystem::path> locate(const Module& module) {
    if (auto path = find(module.file)) return std::move(*path);
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("{}, and Kumiki was built without it ({} is not beside the library); install {} and "
                            "build it again",
                            module.needed, module.file, module.to_build));
}

Result<void*> load(const Module& module, Calls calls) {
    const auto path = locate(module);
    if (!path) return tl::unexpected(path.error());
    const bool is_apart = calls == Calls::libraries_first;
    if (is_apart) set_environment_of_c_library();
    void* opened = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL | (is_apart ? RTLD_DEEPBIND : 0));
    if (opened == nullptr)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("{}, and its library cannot be loaded ({}); install {}",
                                                          module.needed, dlerror(), module.to_run));
    void* function = dlsym(opened, module.function);
    if (function == nullptr)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("{} is of another version of Kumiki; install it again", path->string()));
    return function;
}

} // namespace kumiki::fabric
