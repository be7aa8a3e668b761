#pragma once

#include <cstring>
#include <initializer_list>
#include <string>

namespace kumiki::accelerator {

/// A shared library that is opened while the program runs, so that nothing of it is needed to build Kumiki. It stays
/// open to the end of the process: the libraries of vendors do not bear being closed.
class Library {
public:
    /// The first of the names that can be opened; none throws DeviceError: "`what` is not installed here (...)".
    Library(const std::string& what, std::initializer_list<const char*> names);

    /// Sets a pointer to the function of this name. Throws DeviceError when there is none.
    template <class Function>
    void find(Function*& function, const char* name) const {
        void* const address = look_up(name);
        std::memcpy(&function, &address, sizeof function);
    }

private:
    void* look_up(const char* name) const;

    std::string what_;
    void* handle_ = nullptr;
};

} // namespace kumiki::accelerator
