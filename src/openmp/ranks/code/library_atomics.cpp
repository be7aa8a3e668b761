#include <cstddef>
#include <cstring>
#include <utility>

#include "openmp/entry/entry.hpp"
#include "openmp/lock.hpp"

/// Atomic operations on variables for which compilers know no instruction, as long double and std::atomic of a
/// structure: libatomic's functions, which would change the copy of this rank only. All of them hold the lock of atomic
/// constructs that have no instruction; where there is one process only, it is a lock of this process.
using kumiki::openmp::HoldingAtomic;

namespace {

__extension__ using Wide = unsigned __int128;

/// Replaces what is at `place` by `wanted` if it is what is at `expected`; else `expected` gets it.
bool compare_and_exchange(std::size_t bytes, void* place, void* expected, const void* wanted) {
    const HoldingAtomic holding;
    const bool equal = std::memcmp(place, expected, bytes) == 0;
    if (equal) std::memcpy(place, wanted, bytes);
    else std::memcpy(expected, place, bytes);
    return equal;
}

/// Returns the values before and after.
template <class Change>
std::pair<Wide, Wide> change(void* place, Change f) {
    const HoldingAtomic holding;
    Wide before = 0;
    std::memcpy(&before, place, sizeof before);
    const Wide after = f(before);
    std::memcpy(place, &after, sizeof after);
    return {before, after};
}

} // namespace

// The compiler knows these names as functions of its own, so they have others in here.
#define KUMIKI_ATOMIC(result, name, ...)                                                                               \
    KUMIKI_ENTRY result kumiki_atomic_##name(__VA_ARGS__);                                                             \
    __asm__(".symver kumiki_atomic_" #name ", __atomic_" #name "@LIBATOMIC_1.0, remove");                              \
    KUMIKI_ENTRY result kumiki_atomic_##name(__VA_ARGS__)

KUMIKI_ATOMIC(void, load, std::size_t bytes, const void* place, void* into, int) {
    const HoldingAtomic holding;
    std::memcpy(into, place, bytes);
}
KUMIKI_ATOMIC(void, store, std::size_t bytes, void* place, const void* value, int) {
    const HoldingAtomic holding;
    std::memcpy(place, value, bytes);
}
/// `value` and `before` may be the same.
KUMIKI_ATOMIC(void, exchange, std::size_t bytes, void* place, const void* value, void* before, int) {
    const HoldingAtomic holding;
    auto* const here = static_cast<std::byte*>(place);
    auto* const there = static_cast<std::byte*>(before);
    for (std::size_t at = 0; at < bytes; ++at) {
        const std::byte old = here[at];
        here[at] = static_cast<const std::byte*>(value)[at];
        there[at] = old;
    }
}
KUMIKI_ATOMIC(bool, compare_exchange, std::size_t bytes, void* place, void* expected, const void* wanted, int, int) {
    return compare_and_exchange(bytes, place, expected, wanted);
}

// Of 16 bytes, for which the processor may have an instruction that compilers do not rely on.
KUMIKI_ATOMIC(Wide, load_16, void* place, int) {
    const HoldingAtomic holding;
    Wide value = 0;
    std::memcpy(&value, place, sizeof value);
    return value;
}
KUMIKI_ATOMIC(void, store_16, void* place, Wide value, int) {
    const HoldingAtomic holding;
    std::memcpy(place, &value, sizeof value);
}
KUMIKI_ATOMIC(Wide, exchange_16, void* place, Wide value, int) {
    return change(place, [=](Wide) { return value; }).first;
}
KUMIKI_ATOMIC(bool, compare_exchange_16, void* place, void* expected, Wide wanted, int, int) {
    return compare_and_exchange(sizeof wanted, place, expected, &wanted);
}
#define KUMIKI_ATOMIC_UPDATE(name, expression)                                                                         \
    KUMIKI_ATOMIC(Wide, fetch_##name##_16, void* place, Wide y, int) {                                                 \
        return change(place, [=](Wide x) { return expression; }).first;                                                \
    }                                                                                                                  \
    KUMIKI_ATOMIC(Wide, name##_fetch_16, void* place, Wide y, int) {                                                   \
        return change(place, [=](Wide x) { return expression; }).second;                                               \
    }
KUMIKI_ATOMIC_UPDATE(add, x + y)
KUMIKI_ATOMIC_UPDATE(sub, x - y)
KUMIKI_ATOMIC_UPDATE(and, x& y)
KUMIKI_ATOMIC_UPDATE(or, x | y)
KUMIKI_ATOMIC_UPDATE(xor, x ^ y)
KUMIKI_ATOMIC_UPDATE(nand, ~(x& y))
