#include "collective/combine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kumiki::collective {
namespace {

/// Unsigned arithmetic wraps. Signed sums are computed in it, too, because an overflow in a reduction must not be
/// undefined behaviour.
template <class T>
auto wrapping(T value) {
    if constexpr (std::is_integral_v<T>) return static_cast<std::make_unsigned_t<T>>(value);
    else return value;
}

template <class T, class Combine>
void each(void* into, const void* from, std::size_t count, Combine combine) {
    auto* const result = static_cast<std::byte*>(into);
    const auto* const source = static_cast<const std::byte*>(from);
    for (std::size_t i = 0; i < count * sizeof(T); i += sizeof(T)) {
        T a, b; // by memcpy: the caller's buffers need not be aligned
        std::memcpy(&a, result + i, sizeof(T));
        std::memcpy(&b, source + i, sizeof(T));
        a = combine(a, b);
        std::memcpy(result + i, &a, sizeof(T));
    }
}

template <class T>
void combine_as(void* into, const void* from, std::size_t count, kumiki_operation operation) {
    switch (operation) {
    case KUMIKI_SUM:
        return each<T>(into, from, count, [](T a, T b) { return static_cast<T>(wrapping(a) + wrapping(b)); });
    case KUMIKI_PRODUCT:
        return each<T>(into, from, count, [](T a, T b) { return static_cast<T>(wrapping(a) * wrapping(b)); });
    case KUMIKI_MIN: return each<T>(into, from, count, [](T a, T b) { return std::min(a, b); });
    case KUMIKI_MAX: return each<T>(into, from, count, [](T a, T b) { return std::max(a, b); });
    }
}

} // namespace

std::size_t element_bytes(kumiki_type type) {
    switch (type) {
    case KUMIKI_INT32:
    case KUMIKI_UINT32:
    case KUMIKI_FLOAT: return 4;
    case KUMIKI_INT64:
    case KUMIKI_UINT64:
    case KUMIKI_DOUBLE: return 8;
    }
    return 0;
}

bool is_operation(kumiki_operation operation) { return operation >= KUMIKI_SUM && operation <= KUMIKI_MAX; }

void combine(void* into, const void* from, std::size_t count, kumiki_type type, kumiki_operation operation) {
    switch (type) {
    case KUMIKI_INT32: return combine_as<std::int32_t>(into, from, count, operation);
    case KUMIKI_INT64: return combine_as<std::int64_t>(into, from, count, operation);
    case KUMIKI_UINT32: return combine_as<std::uint32_t>(into, from, count, operation);
    case KUMIKI_UINT64: return combine_as<std::uint64_t>(into, from, count, operation);
    case KUMIKI_FLOAT: return combine_as<float>(into, from, count, operation);
    case KUMIKI_DOUBLE: return combine_as<double>(into, from, count, operation);
    }
}

} // namespace kumiki::collective
