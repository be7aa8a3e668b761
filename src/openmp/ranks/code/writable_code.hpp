#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <sys/mman.h>

#include "error/result.hpp"
#include "openmp/ranks/memory/objects.hpp"

namespace kumiki::openmp {

/// Calls write(), which may change this code of the program. Nothing of the program may run meanwhile.
template <class Write>
Result<> change_code(std::span<std::byte> code, Write write) {
    const std::span<std::byte> pages = whole_pages(code.data(), code.data() + code.size());
    if (mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot change the program's code in memory (mprotect: {})", std::strerror(errno)));
    write();
    mprotect(pages.data(), pages.size(), PROT_READ | PROT_EXEC);
    return {};
}

} // namespace kumiki::openmp
