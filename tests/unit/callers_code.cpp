// A library of the program, for callers_test.cpp: its variables lie on a page of their own.
#include <cstddef>
#include <cstring>
#include <string>

#define EXPORTED extern "C" [[gnu::visibility("default")]]

namespace {
/// Beside it the compiler keeps the address of the C++ library's function for exceptions, which the unwinder reads.
volatile int variable = 1;
} // namespace

EXPORTED const volatile void* address_of_variable() { return &variable; }

/// Returns the sum of the bytes, by a function that may throw: the copy must be destroyed then, too.
EXPORTED std::size_t sum_of(const void* memory, std::size_t bytes, std::size_t (*add)(std::size_t, char)) {
    std::string copy(bytes, '\0');
    std::memcpy(copy.data(), memory, bytes);
    std::size_t sum = 0;
    for (const char each : copy) sum = add(sum, each);
    return sum;
}
