/* kumiki.h - the C interface of Kumiki.
 *
 * A job is one parallel run; a rank is one process of it; ranks own regions of memory that the other ranks read and
 * write. The C++ interface (kumiki.hpp) is a thin layer over this one, and this one is the stable binary interface.
 *
 * Functions that can fail return KUMIKI_OK or an error code that gives the category of the failure;
 * kumiki_error_message() then returns a sentence that says what happened, to which rank or address, and how to fix it.
 * Unless a comment says otherwise, any thread may call any function at any time. "Collective" means: every rank of the
 * job (or of the group) calls it, in the same order, from one thread at a time.
 */
#ifndef KUMIKI_H
#define KUMIKI_H

#include <stddef.h>
#include <stdint.h>

#include "kumiki/shared.h"
#include "kumiki/status.h"
#include "kumiki/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KUMIKI_VERSION_MAJOR 0
#define KUMIKI_VERSION_MINOR 1
#define KUMIKI_VERSION_PATCH 0

/* Returns the version of the library at run time as "major.minor.patch". The macros above give the version that the
 * program was compiled against. */
KUMIKI_API const char* kumiki_version(void);

/* ---- job ---- */

/* Joins the job that the launcher started, or forms a job of one rank when there is no launcher. A process may join the
 * job of a launcher once; without one, each call forms another job. A child that this process forks afterwards is not a
 * rank: there, every function called with this job fails with KUMIKI_ERROR_STATE, and rank, size and number of threads
 * are -1, as they are for a job that is null. The child may call exec or _exit. */
KUMIKI_API kumiki_status kumiki_join(kumiki_job** job);

/* Collective: leaves the job and waits for all ranks. Any regions, groups and teams of the job that still exist are
 * released, and must not be used or released any more. Fails, and does not leave, while a thread of this rank has a
 * shared lock or is in a collective, and while a team runs. */
KUMIKI_API kumiki_status kumiki_leave(kumiki_job* job);

/* Leaves the job without waiting for other ranks. It is meant for a rank that is about to fail. The launcher ends the
 * job when this process exits. */
KUMIKI_API void kumiki_abandon(kumiki_job* job);

/* Is told that the job cannot continue because a host or a rank is lost, in the words that have been printed. */
typedef void (*kumiki_failure_handler)(kumiki_job* job, const char* sentence, void* context);

/* From now on `function` is called before the library ends this process because the job cannot continue and no call can
 * return this: between hosts a thread of the library notices that another host, or a rank, shows no sign of life. It
 * runs once, on that thread, while the program's threads may be anywhere, and may call nothing of the library. When it
 * returns, the process ends with exit code 3; until then the program can save what it has, or end by itself. The
 * launcher ends this rank soon after another one has ended, whatever the function does. Null: no function any more. */
KUMIKI_API kumiki_status kumiki_on_failure(kumiki_job* job, kumiki_failure_handler function, void* context);

/* The number of this rank, 0 .. size - 1, and the number of ranks in the job. */
KUMIKI_API int kumiki_rank(const kumiki_job* job);
KUMIKI_API int kumiki_size(const kumiki_job* job);

/* The number of threads that this rank should use (kumiki-run -t), at least 1. Ranks may have different numbers. */
KUMIKI_API int kumiki_threads(const kumiki_job* job);

/* Stores in *threads the number of threads that rank `rank` of the job should use. It does not communicate. */
KUMIKI_API kumiki_status kumiki_threads_of(const kumiki_job* job, int rank, int* threads);

/* Stores in *processors the address of the processors (by the numbers of the operating system) that the threads of this
 * rank are bound to, in the order of the threads, unless `processors` is null, and returns how many there are; 0: the
 * threads are not bound. The numbers are valid until the job is left. */
KUMIKI_API int kumiki_processors(const kumiki_job* job, const int** processors);

/* The same for the devices (accelerators) that kumiki-run has assigned to this rank, by their numbers in `kumiki
 * topology`; 0: none have been assigned. CUDA, HIP and Level Zero show this rank only these, from 0 on. */
KUMIKI_API int kumiki_devices(const kumiki_job* job, const int** devices);

/* Returns 1 when this host runs more threads of the job than it has cores, else 0. */
KUMIKI_API int kumiki_oversubscribed(const kumiki_job* job);

/* ---- regions (COMPaS paper, 3.1: the user registers memory; remote addresses are written like local ones) ---- */

/* Collective: allocates `bytes` (the same value at every rank, greater than 0) of zeroed, page-aligned memory at every
 * rank. A pointer into a rank's own copy of the region names the same place at every rank. */
KUMIKI_API kumiki_status kumiki_allocate(kumiki_job* job, size_t bytes, void** memory);

/* Collective: releases the region that kumiki_allocate returned. */
KUMIKI_API kumiki_status kumiki_release(kumiki_job* job, void* memory);

/* Stores in *there the address at which this process can directly read and write rank `rank`'s copy of `own`, which
 * must be inside a region of this rank; stores null when that rank is on another host. */
KUMIKI_API kumiki_status kumiki_peer(kumiki_job* job, int rank, const void* own, void** there);

/* ---- put, get ---- */

/* Copies `bytes` from `source` (any memory) to rank `rank`, to the place named by `there`, an address in a region of
 * the calling rank. On return, `source` may be reused. The data become visible at the target before any later signal,
 * atomic or active message from the calling thread to the same rank, and before the calling rank's next barrier ends.
 */
KUMIKI_API kumiki_status kumiki_put(kumiki_job* job, int rank, void* there, const void* source, size_t bytes);

/* Copies `bytes` from the place `there` at rank `rank` to `destination` (any memory). The copy is complete on return.
 */
KUMIKI_API kumiki_status kumiki_get(kumiki_job* job, int rank, const void* there, void* destination, size_t bytes);

/* A put, get, send or receive in progress. A null request is complete. kumiki_wait, kumiki_test, kumiki_wait_any and
 * kumiki_wait_all accept requests of every kind, mixed in any way. */
typedef struct kumiki_request_state* kumiki_request;

/* Non-blocking kumiki_put and kumiki_get. A put request is complete when `source` may be reused; a get request is
 * complete when the data are in `destination`. Between ranks of one host the call copies the data itself and sets
 * *request to null. Until a put is complete, anything that the calling thread sends to that rank later may overtake its
 * data; after that, the ordering is that of kumiki_put. A put must be complete before its rank enters the barrier that
 * is to make its data visible. */
KUMIKI_API kumiki_status kumiki_start_put(kumiki_job* job, int rank, void* there, const void* source, size_t bytes,
                                          kumiki_request* request);
KUMIKI_API kumiki_status kumiki_start_get(kumiki_job* job, int rank, const void* there, void* destination, size_t bytes,
                                          kumiki_request* request);

/* ---- signals ---- */

/* A signal is an aligned 64-bit word in a region. When it is placed next to the data that it announces, both travel in
 * the same cache line. */

/* Sets the signal at rank `rank` to `value`, or adds `value` to it, and wakes the threads that wait for it there. */
KUMIKI_API kumiki_status kumiki_signal(kumiki_job* job, int rank, uint64_t* signal, kumiki_signal_operation operation,
                                       uint64_t value);

/* kumiki_put followed by kumiki_signal at the same rank: a thread that sees the signal also sees the data. */
KUMIKI_API kumiki_status kumiki_put_signal(kumiki_job* job, int rank, void* there, const void* source, size_t bytes,
                                           uint64_t* signal, kumiki_signal_operation operation, uint64_t value);

/* Waits until the comparison of this rank's signal with `value` holds. Stores the value of the signal in *seen unless
 * `seen` is null. */
KUMIKI_API kumiki_status kumiki_signal_wait(kumiki_job* job, const uint64_t* signal, kumiki_comparison comparison,
                                            uint64_t value, uint64_t* seen);

/* Non-blocking kumiki_signal_wait: sets *satisfied to 1 when the comparison holds now, else to 0. When it does not
 * hold, the call makes progress once, as a wait does repeatedly: it sends messages that are held back, receives, and
 * moves messages. */
KUMIKI_API kumiki_status kumiki_signal_test(kumiki_job* job, const uint64_t* signal, kumiki_comparison comparison,
                                            uint64_t value, int* satisfied, uint64_t* seen);

/* ---- atomics on 64-bit words in regions: sequentially consistent among themselves ---- */

KUMIKI_API kumiki_status kumiki_fetch_add(kumiki_job* job, int rank, uint64_t* there, uint64_t value, uint64_t* before);
KUMIKI_API kumiki_status kumiki_compare_swap(kumiki_job* job, int rank, uint64_t* there, uint64_t expected,
                                             uint64_t desired, uint64_t* before);
KUMIKI_API kumiki_status kumiki_swap(kumiki_job* job, int rank, uint64_t* there, uint64_t value, uint64_t* before);

/* ---- active messages (COMPaS paper, 3.1.1) ----
 *
 * They carry at most KUMIKI_ACTIVE_MESSAGE_MAX bytes; larger data go by put, announced by an active message. */

/* Runs at the target, on its agent or on one of its threads that waits inside the library. Handlers of one rank run one
 * at a time. A handler may put, get, signal, use atomics and send active messages; it must neither wait nor call
 * collectives. */
typedef void (*kumiki_handler)(kumiki_job* job, int source, const void* payload, size_t bytes, void* context);

/* Collective: makes `function` callable from all ranks, and stores its number, which is the same at every rank, in
 * *handler. */
KUMIKI_API kumiki_status kumiki_register_handler(kumiki_job* job, kumiki_handler function, void* context, int* handler);

/* Runs handler number `handler` at rank `rank` with a copy of the payload. Active messages from one thread to one rank
 * run in the order in which they were sent. */
KUMIKI_API kumiki_status kumiki_active_message(kumiki_job* job, int rank, int handler, const void* payload,
                                               size_t bytes);

/* Runs the handlers of the active messages that have arrived, and stores their number in *handled unless `handled` is
 * null. */
KUMIKI_API kumiki_status kumiki_progress(kumiki_job* job, int* handled);

/* ---- messages (Maestro/MMP paper, section 4: MP_send, MP_receive, MP_wait) ----
 *
 * One rank sends data with a tag; another rank receives them by source and tag. A message goes to the earliest posted
 * receive that matches it, and a receive takes the earliest message that matches it, so messages from one thread to one
 * rank with one tag keep their order. A rank may send to itself. */

#define KUMIKI_ANY (-1) /* matches any source or any tag */

typedef struct kumiki_message_status {
    int source, tag; /* for a send, put or get: the other rank; KUMIKI_ANY when the request was null, or has no tag */
    size_t bytes;
} kumiki_message_status;

/* Sends `bytes` (0 is allowed) at `data` to rank `rank` with a tag of 0 or more. Never waits. A short message is
 * complete at once and *request is null. The data of a longer message must not change until its request is complete,
 * which may take until the other rank posts a receive for it. */
KUMIKI_API kumiki_status kumiki_send(kumiki_job* job, int rank, int tag, const void* data, size_t bytes,
                                     kumiki_request* request);

/* Posts a receive for a message from rank `rank` with tag `tag`; either may be KUMIKI_ANY. Never waits. The program
 * must not touch `into` until the request is complete. A message shorter than `bytes` leaves the rest of `into`
 * unchanged. */
KUMIKI_API kumiki_status kumiki_receive(kumiki_job* job, int rank, int tag, void* into, size_t bytes,
                                        kumiki_request* request);

/* Waits until *request is complete and sets it to null; `status` may be null. Every request must be completed once, by
 * this function or one of the functions below. A message that is longer than its receive causes an error here that
 * names both lengths; the message is lost, and the job continues. */
KUMIKI_API kumiki_status kumiki_wait(kumiki_job* job, kumiki_request* request, kumiki_message_status* status);

/* Non-blocking kumiki_wait: sets *complete to 1 when the request was complete, else to 0. */
KUMIKI_API kumiki_status kumiki_test(kumiki_job* job, kumiki_request* request, int* complete,
                                     kumiki_message_status* status);

/* Waits until one of `count` requests is complete, and stores its index in *place. Null requests are skipped; when all
 * are null, *place is `count`. */
KUMIKI_API kumiki_status kumiki_wait_any(kumiki_job* job, kumiki_request* requests, size_t count, size_t* place,
                                         kumiki_message_status* status);

/* Waits for all requests. `statuses` has one entry per request, or is null. When several requests fail, the first error
 * is returned. */
KUMIKI_API kumiki_status kumiki_wait_all(kumiki_job* job, kumiki_request* requests, size_t count,
                                         kumiki_message_status* statuses);

/* Describes the message that a receive with this source and tag would get, without receiving it. Sets *found to whether
 * there is one; when `found` is null, the call waits until there is one. */
KUMIKI_API kumiki_status kumiki_probe(kumiki_job* job, int rank, int tag, int* found, kumiki_message_status* status);

/* ---- collectives of all ranks ("groups" below has those of some ranks, and further collectives) ---- */

KUMIKI_API kumiki_status kumiki_barrier(kumiki_job* job);

/* Split-phase barrier: enter, compute, wait (HPCN'99). At most one is open at a time, and no other collective may run
 * in between.
 */
KUMIKI_API kumiki_status kumiki_barrier_enter(kumiki_job* job);
KUMIKI_API kumiki_status kumiki_barrier_wait(kumiki_job* job);

/* Copies `bytes` at `data` from the root to every rank. All ranks must pass the same byte count and root; a difference
 * is an error at every rank. */
KUMIKI_API kumiki_status kumiki_broadcast(kumiki_job* job, void* data, size_t bytes, int root);

/* Combines `count` elements elementwise, first on each host in rank order and then across hosts in host order, so that
 * every rank gets bitwise identical results. `input` may equal `output`. */
KUMIKI_API kumiki_status kumiki_reduce(kumiki_job* job, const void* input, void* output, size_t count, kumiki_type type,
                                       kumiki_operation operation, int root);
KUMIKI_API kumiki_status kumiki_all_reduce(kumiki_job* job, const void* input, void* output, size_t count,
                                           kumiki_type type, kumiki_operation operation);

/* Every rank sends `bytes` to every rank. `input` and `output` each hold size x bytes, in rank order. */
KUMIKI_API kumiki_status kumiki_all_to_all(kumiki_job* job, const void* input, void* output, size_t bytes);

/* Sends input_bytes[r] from input + input_offsets[r] to rank r, and receives output_bytes[r] from rank r at output +
 * output_offsets[r]. The length that rank a sends to b must equal the length that b expects from a; a difference is an
 * error at every rank. */
KUMIKI_API kumiki_status kumiki_all_to_all_v(kumiki_job* job, const void* input, const size_t* input_bytes,
                                             const size_t* input_offsets, void* output, const size_t* output_bytes,
                                             const size_t* output_offsets);

/* ---- groups: collectives of some of the ranks ----
 *
 * A group is a subset of the job's ranks in an order of its own, numbered from 0; the job is the first group. Every
 * collective works on a group: "every rank" then means every rank of the group, and `root` and the order of pieces
 * refer to the numbers in the group. Different threads may run collectives of different groups at the same time, but
 * only one thread of each rank may be in a collective of the same group. A null group (this rank is not a member, or
 * has freed the group) makes these functions fail with KUMIKI_ERROR_ARGUMENT. */

typedef struct kumiki_group kumiki_group;

/* Returns the group of all ranks. It belongs to the job and must not be freed. */
KUMIKI_API kumiki_group* kumiki_job_group(kumiki_job* job);

/* Collective over `group`: makes one new group for each colour, consisting of the ranks that pass it, ordered by key
 * and, where keys are equal, by rank in `group`. *made is null at a rank whose colour is negative. A rank can be in at
 * most 64 groups at a time, including the job; when any rank would exceed this, all ranks get KUMIKI_ERROR_STATE. */
KUMIKI_API kumiki_status kumiki_group_split(kumiki_group* group, int colour, int key, kumiki_group** made);

/* Collective over `group`: makes the group of the `count` listed ranks (numbers in `group`), in the order of the list;
 * each rank may occur once. All ranks in a list must pass the same list; other ranks may pass another list to form
 * another group. *made is null at a rank that is not in its own list. */
KUMIKI_API kumiki_status kumiki_group_create(kumiki_group* group, const int* ranks, size_t count, kumiki_group** made);

/* Frees *group and sets it to null; a null group is not an error. Every rank of the group calls it after its last
 * collective of the group; the call does not wait. The group counts towards the limit of 64 until all its ranks on this
 * host have freed it. kumiki_leave frees the remaining groups. */
KUMIKI_API kumiki_status kumiki_group_free(kumiki_group** group);

/* The number of this rank in the group, and the number of ranks in the group; -1 for a null group. */
KUMIKI_API int kumiki_group_rank(const kumiki_group* group);
KUMIKI_API int kumiki_group_size(const kumiki_group* group);

/* kumiki_group_rank_in_job converts a rank of the group into a rank of the job, for put, get, send, ...; it returns -1
 * when there is no such rank. kumiki_group_rank_of converts the other way; it returns -1 when that rank is not in the
 * group. */
KUMIKI_API int kumiki_group_rank_in_job(const kumiki_group* group, int rank);
KUMIKI_API int kumiki_group_rank_of(const kumiki_group* group, int rank_in_job);

/* The collectives above, on a group. */
KUMIKI_API kumiki_status kumiki_group_barrier(kumiki_group* group);
KUMIKI_API kumiki_status kumiki_group_barrier_enter(kumiki_group* group);
KUMIKI_API kumiki_status kumiki_group_barrier_wait(kumiki_group* group);
KUMIKI_API kumiki_status kumiki_group_broadcast(kumiki_group* group, void* data, size_t bytes, int root);
KUMIKI_API kumiki_status kumiki_group_reduce(kumiki_group* group, const void* input, void* output, size_t count,
                                             kumiki_type type, kumiki_operation operation, int root);
KUMIKI_API kumiki_status kumiki_group_all_reduce(kumiki_group* group, const void* input, void* output, size_t count,
                                                 kumiki_type type, kumiki_operation operation);
KUMIKI_API kumiki_status kumiki_group_all_to_all(kumiki_group* group, const void* input, void* output, size_t bytes);
KUMIKI_API kumiki_status kumiki_group_all_to_all_v(kumiki_group* group, const void* input, const size_t* input_bytes,
                                                   const size_t* input_offsets, void* output,
                                                   const size_t* output_bytes, const size_t* output_offsets);

/* Gathers `bytes` from every rank at every rank: `output` holds size x bytes, in rank order. `input` may be this rank's
 * own piece of `output`. */
KUMIKI_API kumiki_status kumiki_group_all_gather(kumiki_group* group, const void* input, size_t bytes, void* output);

/* The same with output_bytes[r] from rank r at output + output_offsets[r]. All ranks pass the same lengths, and
 * output_bytes[own rank] equals `bytes`. */
KUMIKI_API kumiki_status kumiki_group_all_gather_v(kumiki_group* group, const void* input, size_t bytes, void* output,
                                                   const size_t* output_bytes, const size_t* output_offsets);

/* Gathers `bytes` from every rank at the root, whose `output` holds size x bytes, in rank order; other ranks do not use
 * `output`. In gather_v each rank passes its own length, and the root passes all lengths; only the root uses the
 * tables. */
KUMIKI_API kumiki_status kumiki_group_gather(kumiki_group* group, const void* input, size_t bytes, void* output,
                                             int root);
KUMIKI_API kumiki_status kumiki_group_gather_v(kumiki_group* group, const void* input, size_t bytes, void* output,
                                               const size_t* output_bytes, const size_t* output_offsets, int root);

/* The reverse of gather: rank r gets the r-th piece of the root's input in `output`. */
KUMIKI_API kumiki_status kumiki_group_scatter(kumiki_group* group, const void* input, void* output, size_t bytes,
                                              int root);
KUMIKI_API kumiki_status kumiki_group_scatter_v(kumiki_group* group, const void* input, const size_t* input_bytes,
                                                const size_t* input_offsets, void* output, size_t bytes, int root);

/* Inclusive scan: rank r gets the elementwise combination of the inputs of ranks 0 to r. `input` may equal `output`. */
KUMIKI_API kumiki_status kumiki_group_scan(kumiki_group* group, const void* input, void* output, size_t count,
                                           kumiki_type type, kumiki_operation operation);

/* Combines the size x count elements of every rank's input elementwise, and gives rank r the r-th block of `count`
 * elements. In reduce_scatter_v rank r gets counts[r] elements; the blocks follow each other in rank order, and all
 * ranks pass the same counts. Input and output must not overlap. */
KUMIKI_API kumiki_status kumiki_group_reduce_scatter(kumiki_group* group, const void* input, void* output, size_t count,
                                                     kumiki_type type, kumiki_operation operation);
KUMIKI_API kumiki_status kumiki_group_reduce_scatter_v(kumiki_group* group, const void* input, void* output,
                                                       const size_t* counts, kumiki_type type,
                                                       kumiki_operation operation);

/* ---- teams: the threads of a rank (COMPaS paper, section 4) ---- */

typedef struct kumiki_team kumiki_team;

/* Starts a team of `threads` threads; 0 stands for kumiki_threads(). The thread that calls kumiki_team_run is thread 0.
 * If the threads are bound (kumiki_processors), the calling thread is, too, until its last team has ended. */
KUMIKI_API kumiki_status kumiki_team_create(kumiki_job* job, int threads, kumiki_team** team);
KUMIKI_API void kumiki_team_destroy(kumiki_team* team);
KUMIKI_API int kumiki_team_size(const kumiki_team* team);

/* Runs function(context, thread) once on every thread of the team and returns when all threads have finished. Two
 * threads must not call it for one team at the same time.
 */
KUMIKI_API kumiki_status kumiki_team_run(kumiki_team* team, void (*function)(void* context, int thread), void* context);

/* Every thread of the team calls it inside kumiki_team_run. Waits for all threads of the team. */
KUMIKI_API kumiki_status kumiki_team_barrier(kumiki_team* team, int thread);

/* A thread that leaves the function of kumiki_team_run early calls this, so that threads that wait for it, now or later
 * in this run, get KUMIKI_ERROR_STATE instead of waiting forever. */
KUMIKI_API void kumiki_team_break(kumiki_team* team, int thread);

/* Every thread of every rank calls it inside kumiki_team_run. Waits for all threads of the job (thread barrier, then
 * rank barrier). */
KUMIKI_API kumiki_status kumiki_team_barrier_all(kumiki_team* team, int thread);

/* Every thread of the team calls it inside kumiki_team_run. Combines `count` elements over the threads of the team
 * (kumiki_team_reduce_all: over all threads of all ranks) in a fixed order. Every thread gets the result in `data`. */
KUMIKI_API kumiki_status kumiki_team_reduce(kumiki_team* team, int thread, void* data, size_t count, kumiki_type type,
                                            kumiki_operation operation);
KUMIKI_API kumiki_status kumiki_team_reduce_all(kumiki_team* team, int thread, void* data, size_t count,
                                                kumiki_type type, kumiki_operation operation);

/* Computes the range [*begin, *end) of 0 .. count that belongs to part `index` of `parts`. Parts are contiguous, and
 * their sizes differ by at most one. A part that does not exist is empty. */
KUMIKI_API void kumiki_part(size_t count, int parts, int index, size_t* begin, size_t* end);

#ifdef __cplusplus
}
#endif
#endif
