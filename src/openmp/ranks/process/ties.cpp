#include "openmp/ranks/process/ties.hpp"

#include <pthread.h>
#include <threads.h>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/other_ranks.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp {

static thread_local int no_ties = 0;

void note_tie() {
    if (no_ties > 0) return;
    if (OtherRanks* const others = process().others()) others->note_tie();
}

NoTies::NoTies() { ++no_ties; }
NoTies::~NoTies() { --no_ties; }

} // namespace kumiki::openmp

// -- functions of the C library --

// Programs ask for the version of the C library with which they were linked.
#define KUMIKI_CREATE_THREAD(own_name, version)                                                                        \
    KUMIKI_ENTRY int own_name(pthread_t* thread, const pthread_attr_t* about, void* (*function)(void*),                \
                              void* argument) {                                                                        \
        static auto* const after = kumiki::platform::next_function(&pthread_create, "pthread_create");                 \
        kumiki::openmp::note_tie();                                                                                    \
        return after(thread, about, function, argument);                                                               \
    }                                                                                                                  \
    __asm__(".symver " #own_name ", pthread_create@" version ", remove");
KUMIKI_CREATE_THREAD(kumiki_create_thread, "GLIBC_2.34")
KUMIKI_CREATE_THREAD(kumiki_old_create_thread, "GLIBC_2.2.5")

#define KUMIKI_CREATE_C_THREAD(own_name, version)                                                                      \
    KUMIKI_ENTRY int own_name(thrd_t* thread, thrd_start_t function, void* argument) {                                 \
        static auto* const after = kumiki::platform::next_function(&thrd_create, "thrd_create");                       \
        kumiki::openmp::note_tie();                                                                                    \
        return after(thread, function, argument);                                                                      \
    }                                                                                                                  \
    __asm__(".symver " #own_name ", thrd_create@" version ", remove");
KUMIKI_CREATE_C_THREAD(kumiki_create_c_thread, "GLIBC_2.34")
KUMIKI_CREATE_C_THREAD(kumiki_old_create_c_thread, "GLIBC_2.28")
