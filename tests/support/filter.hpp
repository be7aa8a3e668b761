#pragma once

namespace kumiki::tests {

/// From now on a futex call of the calling thread kills the process (SIGSYS): proof that a path makes none. False when
/// the system does not let us.
bool forbid_futex();

} // namespace kumiki::tests
