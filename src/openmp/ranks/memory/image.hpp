#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "openmp/ranks/memory/objects.hpp"

namespace kumiki::openmp {

/// The program, or one of its own libraries (objects_of_program()), as it lies in memory.
struct Image {
    std::byte* base = nullptr;        ///< what is added to the addresses in its file
    std::span<std::byte> data;        ///< its variables: whole pages, without those that become read-only at the start
    std::span<std::byte> initialized; ///< the part of them that its file describes; zeros follow
    bool copies_variables = false;    ///< whether threads ask the runtime for copies of variables (threadprivate)
    /// Variables of libraries that the linker has put among the program's (std::cout, for instance). The libraries use
    /// them even after the ranks have left the job.
    std::vector<std::span<std::byte>> of_libraries;
    /// Those of its variables in which the dynamic linker keeps functions of other objects that it calls, in order.
    std::vector<const std::byte*> slots;
    std::vector<std::span<std::byte>> segments; ///< all of it
    std::vector<std::span<std::byte>> code;     ///< what is executed of it, in order
    /// The table of its functions (.eh_frame_hdr); null: there is none, or it does not name all. LLVM makes no entry
    /// for a function that cannot throw, unless it is asked to, which clang does, and flang does not.
    const std::byte* unwinding = nullptr;
    bool tries_locks = false; ///< whether it calls functions that enter a lock only if it is free
    bool makes_code = false;  ///< whether it calls functions by which memory becomes executable
    bool makes_tasks = false; ///< whether it calls functions that create tasks
    bool yields = false;      ///< whether it calls functions such as sched_yield(), as one does while one waits
};

/// What runs as several processes.
struct Program {
    std::vector<Image> images; ///< the program itself comes first
    std::uint64_t layout = 0;  ///< a number that differs if anything is loaded elsewhere, or something else is

    /// Whether it may execute code that it writes to its heap (compilers at run time).
    bool makes_code() const { return std::ranges::any_of(images, &Image::makes_code); }
    /// Whether it is the program itself or one of its own libraries.
    bool has(const Object& object) const;
};

/// Must be called when all libraries are loaded. `libraries`: as for objects_of_program().
Program find_program(std::string_view libraries);

/// The other libraries that the user may name (--libraries).
std::vector<Object> other_libraries(const Program& program);

/// Whether calls from this address come from the program and its own libraries, or from a library that works on its
/// behalf with memory of its own: those of C++ and Fortran.
class Callers {
public:
    explicit Callers(const Program& program);
    bool has(const void* address) const { return is_in(program_, address); }
    /// The same, or from a library that calls functions of the program: this one, which calls those of regions and
    /// tasks, or the C library. If the last thing that such a function does is a call, compilers make a jump of it,
    /// and the call seems to come from where the function was called.
    bool may_have(const void* address) const { return has(address) || is_in(callers_of_program_, address); }

    /// The same, from a library that may keep memory of its own for the program: not from one that is about the
    /// process.
    bool has_apart(const void* address) const { return is_in(apart_, address); }

private:
    using Code = std::vector<std::span<const std::byte>>;
    static bool is_in(const Code& code, const void* address) {
        for (const auto& range : code)
            if (address >= range.data() && address < range.data() + range.size()) return true;
        return false;
    }

    Code program_, callers_of_program_, apart_;
};

} // namespace kumiki::openmp
