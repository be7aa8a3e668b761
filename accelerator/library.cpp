#include "accelerator/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

Library::Library(const std::string& what, std::initializer_list<const char*> names) : what_(what) {
    std::string why;
    for (const char* const name : names) {
        handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) return;
        if (why.empty()) why = dlerror();
    }
    throw DeviceError(fmt::format("{} is not installed here ({})", what_, why));
}

void* Library::look_up(const char* name) const {
    void* const address = dlsym(handle_, name);
    if (address == nullptr) throw DeviceError(fmt::format("{} has no function {}: it is too old", what_, name));
    return address;
}

} // namespace kumiki::accelerator
