#include "platform/overwrite.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kumiki::platform {

// Sanitizers do not see what an instruction of our own reads.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

namespace {

/// Whether the processor moves strings fast (ERMS: Intel since 2012, AMD since 2020).
const bool moves_strings = [] {
    constexpr unsigned features = 7, enhanced_string_moves = 1u << 9;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(features, 0, &a, &b, &c, &d) != 0 && (b & enhanced_string_moves) != 0;
}();

} // namespace

void overwrite(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (moves_strings) __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    else std::memcpy(to, from, bytes);
}

#else

void overwrite(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

#endif

} // namespace kumiki::platform
