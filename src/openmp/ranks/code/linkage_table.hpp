#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "error/result.hpp"

namespace kumiki::openmp {

struct Image;

/// An entry of the linker's table for calls of other objects' functions (the procedure linkage table), which jumps to
/// the address that it finds in a variable.
struct LinkageEntry {
    static constexpr std::size_t bytes = 16;

    std::byte* at;
    const std::byte* slot; ///< the variable

    /// Makes it a jump that looks at no variable. It changes register r11 only, as functions that are bound when they
    /// are first called do, too.
    void jump_to(const void* function) const;
};

/// The entries in a piece of code, as the linkers of GNU and LLVM make them for x86-64, with and without a mark for
/// indirect branches (System V Application Binary Interface, AMD64 Architecture Processor Supplement).
std::vector<LinkageEntry> linkage_entries(std::span<std::byte> code);

/// The variables of the linker lie among the program's, and often in one page with those that change most: then every
/// call of a library would fetch the page. So the entries become jumps to the functions, which are known now. Does
/// nothing unless the dynamic linker has bound all of them at the start (LD_BIND_NOW). Must be called before the
/// program runs, and after everybody who follows calls through the table.
Result<> bind_calls(std::span<const Image> images);

} // namespace kumiki::openmp
