#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/next_function.hpp"

// The functions of the C library for objects with which the program's threads wait for each other (pthreads,
// semaphores), if these objects are in memory that all processes see: the C library would wake no thread of another
// process, and make no memory consistent. All others, as those in variables of libraries, stay the C library's. It does
// not matter who calls: a library may lock a mutex of the program, and both must mean the same by its words.
namespace kumiki::openmp {

/// Null: the object is the C library's.
inline Ranks* ranks_of(const void* object) {
    auto* const others = process().others();
    if (others == nullptr) return nullptr;
    auto* const ranks = static_cast<Ranks*>(others);
    return ranks->is_shared(object) ? ranks : nullptr;
}

/// At most a hundred years: programs give the largest number for "never".
inline std::chrono::nanoseconds duration(time_t seconds, long nanoseconds) {
    constexpr time_t longest = 100L * 366 * 24 * 3600;
    return std::chrono::seconds(std::clamp(seconds, -longest, longest)) + std::chrono::nanoseconds(nanoseconds);
}

/// Until a clock shows this time; negative: it is past.
inline std::chrono::nanoseconds time_until(clockid_t clock, const timespec& end) {
    timespec now{};
    clock_gettime(clock, &now);
    time_t seconds = 0;
    if (__builtin_sub_overflow(end.tv_sec, now.tv_sec, &seconds)) seconds = end.tv_sec;
    return duration(seconds, end.tv_nsec - now.tv_nsec);
}

} // namespace kumiki::openmp

// A function, its parameters, the names of these, the object, and what it does for one that all processes see.
#define KUMIKI_OBJECT_CALL(own_name, name, parameters, arguments, object, ...)                                         \
    KUMIKI_ENTRY int own_name parameters {                                                                             \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        kumiki::openmp::Ranks* const ranks = kumiki::openmp::ranks_of(object);                                         \
        if (ranks == nullptr) return after arguments;                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
#define KUMIKI_VERSIONED_CALL(version, own_name, name, ...)                                                            \
    KUMIKI_OBJECT_CALL(own_name, name, __VA_ARGS__)                                                                    \
    __asm__(".symver " #own_name ", " #name "@" version ", remove");
// A function that has come from another library of the C library into the main one: for programs that were linked
// before and after that.
#define KUMIKI_MOVED_CALL(old_version, name, ...)                                                                      \
    KUMIKI_VERSIONED_CALL("GLIBC_2.34", kumiki_##name, name, __VA_ARGS__)                                              \
    KUMIKI_VERSIONED_CALL(old_version, kumiki_old_##name, name, __VA_ARGS__)
