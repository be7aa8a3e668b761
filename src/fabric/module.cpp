#include "fabric/module.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
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
    void* opened = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL | (calls == Calls::libraries_first ? RTLD_DEEPBIND : 0));
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
