#pragma once

#include <pthread.h>

namespace kumiki::platform {

/// One object for each thread that asks for it, which ends with its thread. A `thread_local` variable of the first
/// thread ends when exit() begins; this one does not, so destructors of the program's static variables and functions
/// of atexit() may still lead to it. Must be a variable with static storage, and is never destroyed.
template <class T>
class PerThread {
public:
    PerThread() {
        pthread_key_create(&key_, [](void* object) { delete static_cast<T*>(object); });
    }
    PerThread(const PerThread&) = delete;
    PerThread& operator=(const PerThread&) = delete;

    T& mine() {
        if (void* const object = pthread_getspecific(key_)) return *static_cast<T*>(object);
        auto* const made = new T;
        pthread_setspecific(key_, made);
        return *made;
    }

private:
    pthread_key_t key_{};
};

} // namespace kumiki::platform
