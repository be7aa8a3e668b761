#pragma once

namespace kumiki::kernels::diffusion {

/// The result of half a step: the new values v, or the right sides (1 + s D) v of the half step after the next. Because
/// (1 - s D) v is the old right side, they are 2 v minus that: no difference is computed.
enum class Leave { values, right_sides };

/// The factors of the new values and of the old right sides in that result.
constexpr double new_values(Leave leave) { return leave == Leave::right_sides ? 2 : 1; }
constexpr double old_sides(Leave leave) { return leave == Leave::right_sides ? 1 : 0; }

} // namespace kumiki::kernels::diffusion
