#pragma once

#include <pthread.h>

namespace kumiki::openmp {

// main runs in a thread of its own, whose stack all ranks see (start.cpp). The constructors of libraries whose memory
// is private have run in the thread in which the process began. Libraries note which one that is, and what belongs to
// it, so to the program and to them both are one thread.

/// Called by the thread in which the process began, when all constructors of libraries have run, and before it does
/// anything else: notes what they have set of its thread-local variables.
void note_first_thread();

/// Called by the thread that will run main, in rank 0: from now on pthread_self() returns the first thread here, and
/// functions about that one are about this one.
void become_first_thread();

/// The thread that is meant by this one. Ends the process if that is the first thread of another process.
pthread_t meant_by(pthread_t thread);

} // namespace kumiki::openmp
