#pragma once

namespace kumiki::tests {

/// From now on a futex call of the calling thread kills the process (SIGSYS), which proves that a path makes none.
/// Returns false if the system does not allow this.
bool forbid_futex();

/// From now on the calling thread may not use userfaultfd (EPERM), as under the security profile of a container.
/// Returns false if the system does not allow this.
bool refuse_userfaultfd();
/// From now on the calling thread may not filter system calls (EPERM), likewise.
bool refuse_seccomp();

} // namespace kumiki::tests
