#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include "kumiki/kumiki.h"

namespace kumiki {

/// A type whose values can be stored in a region: they must stay meaningful when copied bytewise into another process.
/// Pointers and views (std::span, std::string_view) are excluded because their target does not exist there.
template <class T>
concept Transferable = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::borrowed_range<T>;

/// A contiguous sequence of elements: std::vector, std::array, std::span, Region, ...
template <class R>
concept Elements =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Transferable<std::ranges::range_value_t<R>>;

/// A single value, as opposed to a sequence of elements.
template <class T>
concept Single = Transferable<T> && !std::ranges::range<T>;

/// A single value that a std::vector keeps as it is, as it does not keep bool.
template <class T>
concept Listable = Single<T> && !std::same_as<T, bool>;

/// An element type that reductions can combine.
template <class T>
concept Reducible =
    std::same_as<T, float> || std::same_as<T, double> || (std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8));

/// A sequence with the same element type as `Other`.
template <class R, class Other>
concept ElementsLike = Elements<R> && std::same_as<std::ranges::range_value_t<R>, std::ranges::range_value_t<Other>>;

template <class R>
concept ReducibleElements = Elements<R> && Reducible<std::ranges::range_value_t<R>>;

/// The operation by which a reduction combines elements.
enum class Operation { sum = KUMIKI_SUM, product = KUMIKI_PRODUCT, min = KUMIKI_MIN, max = KUMIKI_MAX };

namespace detail {

template <Reducible T>
constexpr kumiki_type type_of() {
    if constexpr (std::same_as<T, float>) return KUMIKI_FLOAT;
    else if constexpr (std::same_as<T, double>) return KUMIKI_DOUBLE;
    else if constexpr (std::signed_integral<T>) return sizeof(T) == 4 ? KUMIKI_INT32 : KUMIKI_INT64;
    else return sizeof(T) == 4 ? KUMIKI_UINT32 : KUMIKI_UINT64;
}

constexpr kumiki_operation code(Operation operation) { return static_cast<kumiki_operation>(operation); }

} // namespace detail
} // namespace kumiki
