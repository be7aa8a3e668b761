#include "fabric/network/transport.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace kumiki::fabric {
namespace {

constexpr const char* module_name = "kumiki-ucx.so";

/// Beside the library, or where programs that have the library inside find it: in lib/ of a folder above.
std::optional<std::filesystem::path> find_module() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&open_transport), &here) == 0) return {};
    std::error_code error;
    auto folder = std::filesystem::canonical(here.dli_fname, error).parent_path();
    if (const auto beside = folder / module_name; std::filesystem::exists(beside, error)) return beside;
    for (; folder.has_relative_path(); folder = folder.parent_path())
        if (const auto found = folder / "lib" / module_name; std::filesystem::exists(found, error)) return found;
    return {};
}

} // namespace

Result<std::shared_ptr<Transport>> open_transport(const std::string& interface, Transport::Receive receive) {
    const auto path = find_module();
    if (!path)
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("this job has ranks on several hosts, and Kumiki was built without a network ({} is not "
                        "beside the library); install libucx-dev and build it again",
                        module_name));
    // Never unloaded: its threads and exit handlers outlive what we know of it.
    void* module = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot load the network engine: {}; install libucx0", dlerror()));
    const auto open = reinterpret_cast<OpenTransport>(dlsym(module, "kumiki_open_transport"));
    if (open == nullptr)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("{} is of another version of Kumiki; install it again", path->string()));
    auto opened = open(interface, std::move(receive));
    if (!opened) return tl::unexpected(opened.error());
    return std::shared_ptr<Transport>(std::move(*opened));
}

} // namespace kumiki::fabric
