#pragma once

#include <mutex>

/// The lock rule: no thread touches memory of the program that may fault while it holds a lock of the library. An
/// address of the program may be in a page that another host holds; a thread that waited for such a page inside a lock
/// would keep out the threads that fetch it. Therefore data are copied before a lock is taken or after it has been
/// released: on one host always, between hosts if their memory may fault (fabric/staged.hpp).
///
/// In builds with KUMIKI_CHECK_LOCKS, which the tests use, each thread counts the locks that it holds, and a violation
/// ends the process with a sentence. In other builds these functions are empty.
namespace kumiki::platform {

#ifdef KUMIKI_CHECK_LOCKS

/// The number of locks of the library that this thread holds.
int held_locks();
void note_locked();
void note_unlocked();
/// Called where the program's memory is touched. Ends the process if this thread holds a lock of the library.
void expect_no_lock(const char* access);

#else

inline void note_locked() {}
inline void note_unlocked() {}
inline void expect_no_lock(const char*) {}

#endif

/// A mutex of the library.
class Mutex {
public:
    void lock() {
        mutex_.lock();
        note_locked();
    }
    void unlock() {
        note_unlocked();
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
};

} // namespace kumiki::platform
