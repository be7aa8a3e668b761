#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumiki::openmp {

/// The program as it lies in memory.
struct Image {
    std::byte* base = nullptr;        ///< what is added to the addresses in the program's file
    std::span<std::byte> data;        ///< its variables: whole pages, without those that become read-only at the start
    std::span<std::byte> initialized; ///< the part of them that the program's file describes; zeros follow
    bool copies_variables = false;    ///< whether threads ask the runtime for copies of variables (threadprivate)
    /// Variables of libraries that the linker has put among the program's (std::cout, for instance). The libraries use
    /// them even after the ranks have left the job.
    std::vector<std::span<std::byte>> of_libraries;
    std::vector<std::span<std::byte>> segments; ///< all of it
    std::vector<std::span<std::byte>> code;     ///< what is executed of it, in order
    std::uint64_t layout = 0; ///< a number that differs if anything is loaded elsewhere, or something else is
    std::string other_user;   ///< a library that uses OpenMP itself; empty: there is none
    bool yields = false;      ///< whether it calls functions such as sched_yield(), as one does while one waits
};

/// Must be called when all libraries are loaded.
Image find_image();

/// Runs the functions that the dynamic linker would run at the end of the process (destructors of C), and hides them
/// from it: they may use memory that is elsewhere, and it runs them when the ranks have left each other, or never.
/// Those of the program, or of a library, by a part of its name.
void run_last_functions(std::string_view library = {});

/// Whether calls from this address come from the program, or from a library that works on its behalf with memory of
/// its own: those of C++ and Fortran.
class Callers {
public:
    Callers();
    bool has(const void* address) const { return is_in(program_, address); }
    /// The same, or from a library that calls functions of the program: this one, which calls those of regions and
    /// tasks, or the C library. If the last thing that such a function does is a call, compilers make a jump of it,
    /// and the call seems to come from where the function was called.
    bool may_have(const void* address) const { return has(address) || is_in(callers_of_program_, address); }

private:
    using Code = std::vector<std::span<const std::byte>>;
    static bool is_in(const Code& code, const void* address) {
        for (const auto& range : code)
            if (address >= range.data() && address < range.data() + range.size()) return true;
        return false;
    }

    Code program_, callers_of_program_;
};

} // namespace kumiki::openmp
