#pragma once

#include <span>

namespace kumiki::bench {

/// One pass over arrays that are larger than the caches; sizes are multiples of `sweep_step` and of equal length,
/// addresses aligned to 64 bytes.
inline constexpr std::size_t sweep_step = 32;

/// Reads every element. The sum is returned so that the compiler cannot omit a load.
double sweep_read(std::span<const double> source);
void sweep_write(std::span<double> destination, double value);
/// A loop over doubles with ordinary stores, as in the paper.
void sweep_copy(std::span<const double> source, std::span<double> destination);
/// The C library's memcpy.
void sweep_memcpy(std::span<const double> source, std::span<double> destination);
/// Stores that bypass the caches.
void sweep_nontemporal(std::span<const double> source, std::span<double> destination);
bool has_nontemporal();

} // namespace kumiki::bench
