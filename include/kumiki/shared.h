/* kumiki/shared.h - shared arrays: one address space over all ranks (Omni/SCASH paper); a part of kumiki.h. */
#ifndef KUMIKI_SHARED_H
#define KUMIKI_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include "kumiki/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kumiki_job kumiki_job;

/* How the pages of a shared array get their homes. Accesses of a rank to pages of which it is the home cost the least.
 *
 * A touch is a read or a write. The next kumiki_shared_barrier finds out who has touched a page first (of several ranks
 * that have done so between the same two barriers, the lowest one); until then the page has a home as in `block`, which
 * only programs notice that exchange data by locks. */
typedef enum kumiki_homes {
    KUMIKI_HOMES_BLOCK = 0,     /* a run of pages to each rank */
    KUMIKI_HOMES_CYCLIC = 1,    /* page after page to one rank after another */
    KUMIKI_HOMES_FIRST = 2,     /* the rank that touches the page first; the default of the C++ interface */
    KUMIKI_HOMES_RELOCATED = 3, /* the same; and a page moves to a rank that keeps writing to it, if nobody else does */
    KUMIKI_HOMES_MANAGED = 4    /* the rank that touches the page first, by the protocol of the paper, for comparison:
                                   every first touch asks rank 0 at once */
} kumiki_homes;

/* What kumiki_shared_barrier does with copies of pages that other ranks have written. */
typedef enum kumiki_protocol {
    KUMIKI_PROTOCOL_DEFAULT = 0,    /* what KUMIKI_SHARED_PROTOCOL says; if it says nothing, invalidate */
    KUMIKI_PROTOCOL_INVALIDATE = 1, /* it drops them; the next access fetches the page from its home */
    KUMIKI_PROTOCOL_UPDATE = 2      /* the homes bring them up to date, so that the next access costs nothing: for pages
                                       that the same ranks read again and again */
} kumiki_protocol;

/* The home of a page that nobody has touched yet, as far as the last barrier has told. */
#define KUMIKI_HOME_OPEN (-1)

/* Collective: allocates `bytes` zeroed bytes that all ranks share, at the same address in every rank: plain loads and
 * stores of any rank and thread access them. `page` is the unit in which they travel between copies: a power of two
 * from the system's page to 65536, or 0 for the system's page. All ranks give the same values.
 *
 * On one host all ranks use the same memory. Between hosts (and with KUMIKI_SHARED_COPIES=rank between all ranks) each
 * rank has a copy of its own, and writes of others become visible to it by kumiki_shared_barrier and
 * kumiki_shared_lock, and by nothing else; kumiki_barrier is no substitute. Without such a call in between, different
 * ranks may write different bytes of a page, but no rank may read or write a byte that another one writes. System calls
 * can be given an address of such an array (docs/decisions/system-calls.md says which, and what that needs); atomic
 * operations between ranks cannot. */
KUMIKI_API kumiki_status kumiki_shared_allocate(kumiki_job* job, size_t bytes, size_t page, kumiki_homes homes,
                                                void** memory);

/* What happens to a dimension of an array: all of it stays together, or it is dealt to the ranks, in one part for each
 * or in parts of `length` indexes to one rank after another. */
typedef enum kumiki_deal {
    KUMIKI_DEAL_WHOLE = 0,
    KUMIKI_DEAL_BLOCK = 1, /* a part to each rank, the first ones as long as each other */
    KUMIKI_DEAL_CYCLIC = 2
} kumiki_deal;

typedef struct kumiki_dimension {
    size_t extent; /* indexes, from 0 on */
    kumiki_deal deal;
    size_t length; /* of a part (KUMIKI_DEAL_CYCLIC), in indexes; 0: 1 */
} kumiki_dimension;

/* Collective: the same for elements of `element` bytes in `count` dimensions, the last one the densest, as in C. If one
 * of them is dealt, each page has its home at the rank that has the first element that begins in it, or reaches into
 * it, and `homes` is ignored; otherwise it says where the homes are. If several are dealt, the ranks are a grid, as
 * square as their number allows. The parts of a dimension after the first one must be whole pages. */
KUMIKI_API kumiki_status kumiki_shared_allocate_dimensions(kumiki_job* job, size_t element,
                                                           const kumiki_dimension* dimensions, int count, size_t page,
                                                           kumiki_homes homes, void** memory);

/* Finds the indexes of a dimension (0: the first) that are this rank's, so that loops go where their data are (the
 * affinity schedule): stores the first run of them from index `from` on in [*begin, *end), which is empty if there is
 * none. An index is this rank's if its elements begin in a page of which the rank is the home. Pages without a home,
 * and all homes by touch where ranks share one memory, count as those of KUMIKI_HOMES_BLOCK. All indexes are this
 * rank's in a dimension that is whole while another one is dealt, and in dimensions after the first one if none is.
 * Between two calls of kumiki_shared_barrier each index of a dimension that is dealt alone is exactly one rank's.
 * `array` is any address in the array; one from kumiki_shared_allocate has one dimension, its bytes. */
KUMIKI_API kumiki_status kumiki_shared_own(kumiki_job* job, const void* array, int dimension, size_t from,
                                           size_t* begin, size_t* end);

/* Not collective: any thread of any rank allocates `bytes` zeroed bytes that all ranks share, at any time from the
 * first shared array on, but not while another thread of its rank is in kumiki_shared_barrier. Their address means the
 * same in every rank, and what is written there becomes visible to others as in shared arrays. The home is the calling
 * rank; the address is a multiple of 16. KUMIKI_SHARED_HEAP says how much memory there is. */
KUMIKI_API kumiki_status kumiki_shared_malloc(kumiki_job* job, size_t bytes, void** memory);

/* Releases what kumiki_shared_malloc has returned to any rank, when nobody uses it any more; null: does nothing. A
 * block of another rank is for that rank again; between hosts, when the calling rank has next called
 * kumiki_shared_barrier or released a shared lock. */
KUMIKI_API kumiki_status kumiki_shared_free(kumiki_job* job, void* memory);

/* Collective: releases the array that kumiki_shared_allocate or kumiki_shared_allocate_dimensions returned. No thread
 * may use the array any more, but other threads may go on, for example with shared locks. If the ranks pass different
 * arrays, or one of them passes an address at which no array begins, the call fails and no array is released. */
KUMIKI_API kumiki_status kumiki_shared_release(kumiki_job* job, void* memory);

/* Collective, and a kumiki_shared_barrier: from now on the shared array that contains `address` is kept consistent by
 * this protocol. Right after kumiki_shared_allocate it chooses the protocol of a new array. A program may change it
 * from phase to phase. All ranks give the same values. Where ranks share one memory there is nothing to keep
 * consistent, and this is a barrier only. */
KUMIKI_API kumiki_status kumiki_shared_set_protocol(kumiki_job* job, const void* address, kumiki_protocol protocol);

/* Collective: a barrier of all ranks after which every rank sees what any rank has written to shared arrays before. One
 * thread of each rank calls it, while the other threads of the rank access no shared array and call nothing of shared
 * locks. */
KUMIKI_API kumiki_status kumiki_shared_barrier(kumiki_job* job);

/* Shared locks have the numbers 0 to KUMIKI_SHARED_LOCKS - 1; they exist from the first shared array on. A thread of
 * any rank that has a lock keeps out all other threads of all ranks, and sees what was written to shared arrays before
 * the lock was last released: by the thread that released it, and what that one had seen. Locks are granted in the
 * order in which they were asked for. The manager of a lock is the rank `lock` modulo the number of ranks; its host is
 * the one where the lock costs no message. */
#define KUMIKI_SHARED_LOCKS 16384

/* Waits until the calling thread has the lock. Fails with KUMIKI_ERROR_STATE if it has it already. */
KUMIKI_API kumiki_status kumiki_shared_lock(kumiki_job* job, int lock);

/* Stores 1 in *taken and takes the lock if nobody has it, else stores 0. */
KUMIKI_API kumiki_status kumiki_shared_trylock(kumiki_job* job, int lock, int* taken);

/* Releases the lock. Fails with KUMIKI_ERROR_STATE unless the calling thread has it. */
KUMIKI_API kumiki_status kumiki_shared_unlock(kumiki_job* job, int lock);

/* Collective, and a kumiki_shared_barrier: from now on the next rank that touches one of `pages` pages becomes its
 * home, beginning with the page that contains `address`, which is in a shared array; 0 pages: to the end of the array.
 * Contents stay. So a program that begins with one pattern of accesses and goes on with another one calls this in
 * between (next touch). All ranks give the same values. Refused for KUMIKI_HOMES_MANAGED. */
KUMIKI_API kumiki_status kumiki_home_first(kumiki_job* job, const void* address, size_t pages);

/* Stores in *rank the home of the page at `address`, which is in a shared array; KUMIKI_HOME_OPEN if it has none yet.
 * Where ranks share one memory, touches are not noticed, so pages whose homes follow from them have none. */
KUMIKI_API kumiki_status kumiki_shared_home(kumiki_job* job, const void* address, int* rank);

/* What keeping the copies consistent has cost this rank, since the arrays were allocated. All are 0 where ranks share
 * one memory. */
typedef struct kumiki_shared_counters {
    uint64_t faults;           /* accesses that faulted */
    uint64_t fetches;          /* pages fetched from their homes */
    uint64_t fetched_bytes;    /* the same in bytes */
    uint64_t twins;            /* copies made to find the bytes that are changed */
    uint64_t differences;      /* pages whose changed bytes were brought to their homes */
    uint64_t difference_bytes; /* the bytes that had changed */
    uint64_t invalidations;    /* copies dropped because another rank had written */
    uint64_t notices;          /* pages announced to the other ranks as written */
    uint64_t home_requests;    /* questions to the manager of homes (KUMIKI_HOMES_MANAGED) */
    uint64_t homes_moved;      /* pages whose home has moved here, from where it is in `block` at first */
    uint64_t updates;          /* copies that barriers have brought up to date (KUMIKI_PROTOCOL_UPDATE) */
    uint64_t update_bytes;     /* the bytes that this took */
    uint64_t evictions;        /* copies dropped because there were too many (KUMIKI_SHARED_CACHE) */
    uint64_t early_fetches;    /* of the fetches: pages that were requested ahead of a barrier */
} kumiki_shared_counters;

/* Stores this rank's counters of the array at `address`, or of all its arrays together when `address` is null. */
KUMIKI_API kumiki_status kumiki_shared_count(kumiki_job* job, const void* address, kumiki_shared_counters* counters);

/* Returns how accesses to absent pages are detected: "userfaultfd" or "protection"; "none" where ranks share one
 * memory. It is known from the first shared array on. */
KUMIKI_API const char* kumiki_shared_mechanism(const kumiki_job* job);

#ifdef __cplusplus
}
#endif
#endif
