#pragma once

namespace kumiki::kernels::diffusion {

/// What half a step leaves: the new values v, or the right sides (1 + s D) v of the next half step but one. As
/// (1 - s D) v is the old right side, they are 2 v less that: no difference is computed.
enum class Leave { values, right_sides };

/// How much of the new values less how much of the old right sides that is.
constexpr double new_values(Leave leave) { return leave == Leave::right_sides ? 2 : 1; }
constexpr double old_sides(Leave leave) { return leave == Leave::right_sides ? 1 : 0; }

} // namespace kumiki::kernels::diffusion
