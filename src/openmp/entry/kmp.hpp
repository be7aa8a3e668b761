#pragma once

#include <cstddef>
#include <cstdint>

#include "openmp/entry/entry.hpp"
#include "openmp/team.hpp"

/// What the entry points of LLVM's interface share: the functions `__kmpc_...` that clang and flang call where gcc
/// calls GOMP_ functions. The interface is described in "LLVM OpenMP Runtime Library Interface"; the shapes here are
/// those that the compilers lay out in programs.
///
/// Most functions get a number of the calling thread that is unique in the process (`gtid`). This runtime knows the
/// thread by itself, so it hands numbers out and ignores those that come back.
namespace kumiki::openmp::kmp {

/// Where a construct is in the program's source, and what the compiler says about it.
struct Source {
    static constexpr std::int32_t atomic_reduction =
        0x10; ///< in `flags`: the reduction has code with atomic constructs

    std::int32_t reserved_1, flags, reserved_2, reserved_3;
    const char* text; ///< ";file;function;line;column;;"
};

/// The body of a parallel or teams construct, which the compiler made a function of; behind the two numbers come the
/// addresses of what it shares.
using Microtask = void (*)(std::int32_t* gtid, std::int32_t* number, ...);

/// A number that no other thread of the process has.
std::int32_t thread_number();

/// The thread leaves a worksharing construct that it has ended without telling: a loop that was cancelled.
inline void settle(Member& me) {
    if (me.share != nullptr) leave_share(me);
}

} // namespace kumiki::openmp::kmp
