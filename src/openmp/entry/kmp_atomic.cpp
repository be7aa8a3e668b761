#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "openmp/entry/kmp.hpp"

/// Entry points of atomic constructs. clang itself uses the processor's instructions; these functions are called by
/// Intel's compilers, and by clang where an operand is neither a number nor a pointer.
using namespace kumiki::openmp;
using kmp::Source;

namespace {

/// Replaces the value at `place` by f(value), and returns both values.
template <class Value, class Change>
std::pair<Value, Value> change(Value* place, Change f) {
    // Over several ranks an instruction here would change the copy of this one.
    if constexpr (sizeof(Value) <= sizeof(std::uint64_t)) {
        if (process().others() == nullptr) {
            const std::atomic_ref variable(*place);
            Value before = variable.load(std::memory_order_relaxed), after = f(before);
            while (!variable.compare_exchange_weak(before, after)) after = f(before);
            return {before, after};
        }
    }
    const HoldingAtomic holding; // gcc's programs take the same lock for such variables
    const Value before = *place, after = f(before);
    *place = after;
    return {before, after};
}

} // namespace

// An update, and the same that also returns the value before it or, with `after`, behind it.
#define KUMIKI_UPDATE(type, value, name, ...)                                                                          \
    KUMIKI_ENTRY void __kmpc_atomic_##type##_##name(const Source*, int, value* place, value y) {                       \
        change(place, [y](value x) { return static_cast<value>(__VA_ARGS__); });                                       \
    }                                                                                                                  \
    KUMIKI_ENTRY value __kmpc_atomic_##type##_##name##_cpt(const Source*, int, value* place, value y, int after) {     \
        const auto values = change(place, [y](value x) { return static_cast<value>(__VA_ARGS__); });                   \
        return after != 0 ? values.second : values.first;                                                              \
    }
// With exchanged operands. The name of the one that returns a value has its marks in the other order.
#define KUMIKI_REVERSED(type, value, name, ...)                                                                        \
    KUMIKI_ENTRY void __kmpc_atomic_##type##_##name##_rev(const Source*, int, value* place, value y) {                 \
        change(place, [y](value x) { return static_cast<value>(__VA_ARGS__); });                                       \
    }                                                                                                                  \
    KUMIKI_ENTRY value __kmpc_atomic_##type##_##name##_cpt_rev(const Source*, int, value* place, value y, int after) { \
        const auto values = change(place, [y](value x) { return static_cast<value>(__VA_ARGS__); });                   \
        return after != 0 ? values.second : values.first;                                                              \
    }
// With a value of a wider type.
#define KUMIKI_MIXED_UPDATE(type, value, name, operation)                                                              \
    KUMIKI_ENTRY void __kmpc_atomic_##type##_##name##_float8(const Source*, int, value* place, double y) {             \
        change(place, [y](value x) { return static_cast<value>(static_cast<double>(x) operation y); });                \
    }
// Operations of all numbers.
#define KUMIKI_NUMBER(type, value)                                                                                     \
    KUMIKI_UPDATE(type, value, add, x + y)                                                                             \
    KUMIKI_UPDATE(type, value, sub, x - y)                                                                             \
    KUMIKI_UPDATE(type, value, mul, x* y)                                                                              \
    KUMIKI_UPDATE(type, value, div, x / y)                                                                             \
    KUMIKI_UPDATE(type, value, min, std::min(x, y))                                                                    \
    KUMIKI_UPDATE(type, value, max, std::max(x, y))                                                                    \
    KUMIKI_REVERSED(type, value, sub, y - x)                                                                           \
    KUMIKI_REVERSED(type, value, div, y / x)                                                                           \
    KUMIKI_ENTRY value __kmpc_atomic_##type##_rd(const Source*, int, value* place) {                                   \
        return change(place, [](value x) { return x; }).first;                                                         \
    }                                                                                                                  \
    KUMIKI_ENTRY void __kmpc_atomic_##type##_wr(const Source*, int, value* place, value y) {                           \
        change(place, [y](value) { return y; });                                                                       \
    }                                                                                                                  \
    KUMIKI_ENTRY value __kmpc_atomic_##type##_swp(const Source*, int, value* place, value y) {                         \
        return change(place, [y](value) { return y; }).first;                                                          \
    }
#define KUMIKI_INTEGER(type, value, unsigned_value)                                                                    \
    KUMIKI_NUMBER(type, value)                                                                                         \
    KUMIKI_UPDATE(type, value, andb, x& y)                                                                             \
    KUMIKI_UPDATE(type, value, orb, x | y)                                                                             \
    KUMIKI_UPDATE(type, value, xor, x ^ y)                                                                             \
    KUMIKI_UPDATE(type, value, andl, x&& y)                                                                            \
    KUMIKI_UPDATE(type, value, orl, x || y)                                                                            \
    KUMIKI_UPDATE(type, value, eqv, ~(x ^ y))                                                                          \
    KUMIKI_UPDATE(type, value, neqv, x ^ y)                                                                            \
    KUMIKI_UPDATE(type, value, shl, x << y)                                                                            \
    KUMIKI_UPDATE(type, value, shr, x >> y)                                                                            \
    KUMIKI_REVERSED(type, value, shl, y << x)                                                                          \
    KUMIKI_REVERSED(type, value, shr, y >> x)                                                                          \
    KUMIKI_MIXED_UPDATE(type, value, mul, *)                                                                           \
    KUMIKI_MIXED_UPDATE(type, value, div, /)                                                                           \
    KUMIKI_UPDATE(type##u, unsigned_value, div, x / y)                                                                 \
    KUMIKI_UPDATE(type##u, unsigned_value, shr, x >> y)                                                                \
    KUMIKI_REVERSED(type##u, unsigned_value, div, y / x)                                                               \
    KUMIKI_REVERSED(type##u, unsigned_value, shr, y >> x)

KUMIKI_INTEGER(fixed1, std::int8_t, std::uint8_t)
KUMIKI_INTEGER(fixed2, std::int16_t, std::uint16_t)
KUMIKI_INTEGER(fixed4, std::int32_t, std::uint32_t)
KUMIKI_INTEGER(fixed8, std::int64_t, std::uint64_t)
KUMIKI_NUMBER(float4, float)
KUMIKI_NUMBER(float8, double)
KUMIKI_NUMBER(float10, long double)
KUMIKI_MIXED_UPDATE(float4, float, add, +)
KUMIKI_MIXED_UPDATE(float4, float, sub, -)
KUMIKI_MIXED_UPDATE(float4, float, mul, *)
KUMIKI_MIXED_UPDATE(float4, float, div, /)

KUMIKI_ENTRY void __kmpc_atomic_start() { enter_atomic(); }
KUMIKI_ENTRY void __kmpc_atomic_end() { leave_atomic(); }

// An update of `size` bytes by a function of the program.
#define KUMIKI_UPDATE_BY_FUNCTION(size)                                                                                \
    KUMIKI_ENTRY void __kmpc_atomic_##size(const Source*, int, void* x, void* y,                                       \
                                           void (*f)(void* result, void* x, void* y)) {                                \
        const HoldingAtomic holding;                                                                                   \
        f(x, x, y);                                                                                                    \
    }
KUMIKI_UPDATE_BY_FUNCTION(1)
KUMIKI_UPDATE_BY_FUNCTION(2)
KUMIKI_UPDATE_BY_FUNCTION(4)
KUMIKI_UPDATE_BY_FUNCTION(8)
KUMIKI_UPDATE_BY_FUNCTION(10)
KUMIKI_UPDATE_BY_FUNCTION(16)
KUMIKI_UPDATE_BY_FUNCTION(20)
KUMIKI_UPDATE_BY_FUNCTION(32)
