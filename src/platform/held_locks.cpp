#include "platform/held_locks.hpp"

#ifdef KUMIKI_CHECK_LOCKS

#include <cstdio>
#include <cstdlib>

namespace kumiki::platform {
namespace {

/// A thread's own state, like errno: the rule applies to the thread, whichever job it works for.
thread_local int held = 0;

} // namespace

int held_locks() { return held; }
void note_locked() { ++held; }
void note_unlocked() { --held; }

void expect_no_lock(const char* access) {
    if (held == 0) return;
    std::fprintf(stderr,
                 "kumiki: %s while this thread holds %d lock(s) of the library; the program's memory may be a page of "
                 "another host, so copy before the lock is taken or after it is released (src/README.md, lock rule)\n",
                 access, held);
    std::abort();
}

} // namespace kumiki::platform

#endif
