/* kumiki.h - the C interface of Kumiki.
 *
 * A job is one parallel run; a rank is one process of it; ranks own regions of memory that the other ranks read and
 * write. The C++ interface (kumiki.hpp) is a thin layer over this one, and this one is the stable binary interface.
 *
 * Every function returns KUMIKI_OK or a code that says whose fault it was; kumiki_error_message() then has the
 * sentence: what happened, to which rank or address, and what mends it. Unless a comment says otherwise, any thread may
 * call any function at any time. "Collective" means: every rank of the job (or of the group) calls it, in the same
 * order, from one thread at a time.
 */
#ifndef KUMIKI_H
#define KUMIKI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KUMIKI_VERSION_MAJOR 0
#define KUMIKI_VERSION_MINOR 1
#define KUMIKI_VERSION_PATCH 0

#if defined(__GNUC__)
#define KUMIKI_API __attribute__((visibility("default")))
#else
#define KUMIKI_API
#endif

/* The version of the library that runs, "major.minor.patch"; the macros are those that the program was built with. */
KUMIKI_API const char* kumiki_version(void);

/* ---- errors ---- */

typedef enum kumiki_status {
    KUMIKI_OK = 0,
    KUMIKI_ERROR_ARGUMENT = 1,    /* a rank that does not exist, sizes that do not fit, a null pointer */
    KUMIKI_ERROR_REGION = 2,      /* memory that is not inside a region of this rank */
    KUMIKI_ERROR_MEMORY = 3,      /* no memory left for what was asked */
    KUMIKI_ERROR_ENVIRONMENT = 4, /* a setting or the system: the message names the variable or the command */
    KUMIKI_ERROR_STATE = 5        /* right call, wrong moment: joined twice, two threads in one collective */
} kumiki_status;

/* The sentence for the calling thread's last error; never null, valid until the thread's next failing call. */
KUMIKI_API const char* kumiki_error_message(void);

/* ---- job ---- */

typedef struct kumiki_job kumiki_job;

/* Joins the job that the launcher started, or becomes a job of one rank when there is no launcher. Once per process. A
 * child that this process forks afterwards is no rank: every function with this job fails there with
 * KUMIKI_ERROR_STATE, and rank and size are -1. It may exec, or end by _exit. */
KUMIKI_API kumiki_status kumiki_join(kumiki_job** job);

/* Leaves the job: collective, waits for all ranks. All regions and teams of the job must be gone or are released here.
 */
KUMIKI_API kumiki_status kumiki_leave(kumiki_job* job);

/* Leaves without waiting for anybody: for a rank that is about to fail. The launcher ends the job when this process
 * exits. */
KUMIKI_API void kumiki_abandon(kumiki_job* job);

/* 0 .. size - 1, and how many ranks the job has. */
KUMIKI_API int kumiki_rank(const kumiki_job* job);
KUMIKI_API int kumiki_size(const kumiki_job* job);

/* How many threads this rank should use (kumiki-run -t), at least 1. */
KUMIKI_API int kumiki_threads(const kumiki_job* job);

/* 1: this host runs more threads of the job than it has cores. */
KUMIKI_API int kumiki_oversubscribed(const kumiki_job* job);

/* ---- regions (COMPaS paper, 3.1: the user registers memory; remote addresses are written like local ones) ---- */

/* Collective: allocates `bytes` (the same at every rank, more than 0) of zeroed memory at every rank, aligned to a
 * page. A pointer into one's own region names the same place at every rank. */
KUMIKI_API kumiki_status kumiki_allocate(kumiki_job* job, size_t bytes, void** memory);

/* Collective: releases the region that kumiki_allocate returned. */
KUMIKI_API kumiki_status kumiki_release(kumiki_job* job, void* memory);

/* Where rank `rank`'s copy of `own` (inside an own region) can be read and written directly, or null in *there when
 * that rank's memory is on another host. */
KUMIKI_API kumiki_status kumiki_peer(kumiki_job* job, int rank, const void* own, void** there);

/* ---- put, get ---- */

/* Copies `bytes` from `source` (any memory) to the place `there` (named by an address in an own region) at rank `rank`.
 * On return `source` may be changed. The data are visible at the target before any later signal, atomic or active
 * message of the calling thread to the same rank is, and before its next barrier ends. */
KUMIKI_API kumiki_status kumiki_put(kumiki_job* job, int rank, void* there, const void* source, size_t bytes);

/* Copies `bytes` from the place `there` at rank `rank` to `destination` (any memory); complete on return. */
KUMIKI_API kumiki_status kumiki_get(kumiki_job* job, int rank, const void* there, void* destination, size_t bytes);

/* A put, get, send or receive that is under way. Null: there is none, or it is complete. kumiki_wait, kumiki_test,
 * kumiki_wait_any and kumiki_wait_all end requests of all kinds, also mixed. */
typedef struct kumiki_request_state* kumiki_request;

/* kumiki_put and kumiki_get that do not wait: *request is complete when `source` may be changed, or when the data are
 * at `destination`. Between ranks of one host the call copies the data itself, and *request is null. Until a put is
 * complete, whatever the calling thread sends to that rank later may overtake its data; afterwards the order is that of
 * kumiki_put. A started put must be complete before the barrier that is to make its data visible. */
KUMIKI_API kumiki_status kumiki_start_put(kumiki_job* job, int rank, void* there, const void* source, size_t bytes,
                                          kumiki_request* request);
KUMIKI_API kumiki_status kumiki_start_get(kumiki_job* job, int rank, const void* there, void* destination, size_t bytes,
                                          kumiki_request* request);

/* ---- signals ---- */

/* A signal is an aligned 64-bit word in a region. Put beside the data that it announces, it travels in the same cache
 * line. */
typedef enum kumiki_signal_operation { KUMIKI_SIGNAL_SET = 0, KUMIKI_SIGNAL_ADD = 1 } kumiki_signal_operation;
typedef enum kumiki_comparison {
    KUMIKI_EQUAL = 0,
    KUMIKI_NOT_EQUAL = 1,
    KUMIKI_AT_LEAST = 2, /* signal >= value */
    KUMIKI_LESS = 3      /* signal < value */
} kumiki_comparison;

/* Raises the signal at rank `rank` and wakes who waits for it there. */
KUMIKI_API kumiki_status kumiki_signal(kumiki_job* job, int rank, uint64_t* signal, kumiki_signal_operation operation,
                                       uint64_t value);

/* kumiki_put, then kumiki_signal at the same rank: who sees the signal sees the data. */
KUMIKI_API kumiki_status kumiki_put_signal(kumiki_job* job, int rank, void* there, const void* source, size_t bytes,
                                           uint64_t* signal, kumiki_signal_operation operation, uint64_t value);

/* Waits until the own signal compares with `value`; stores what was seen in *seen unless `seen` is null. */
KUMIKI_API kumiki_status kumiki_signal_wait(kumiki_job* job, const uint64_t* signal, kumiki_comparison comparison,
                                            uint64_t value, uint64_t* seen);

/* The same without waiting: *satisfied says whether it compares so now. What a wait does besides (sending what is held
 * back, receiving, moving messages) is done once when it does not. */
KUMIKI_API kumiki_status kumiki_signal_test(kumiki_job* job, const uint64_t* signal, kumiki_comparison comparison,
                                            uint64_t value, int* satisfied, uint64_t* seen);

/* ---- atomics on 64-bit words in regions: sequentially consistent among themselves ---- */

KUMIKI_API kumiki_status kumiki_fetch_add(kumiki_job* job, int rank, uint64_t* there, uint64_t value, uint64_t* before);
KUMIKI_API kumiki_status kumiki_compare_swap(kumiki_job* job, int rank, uint64_t* there, uint64_t expected,
                                             uint64_t desired, uint64_t* before);
KUMIKI_API kumiki_status kumiki_swap(kumiki_job* job, int rank, uint64_t* there, uint64_t value, uint64_t* before);

/* ---- active messages (COMPaS paper, 3.1.1) ---- */

#define KUMIKI_ACTIVE_MESSAGE_MAX 448 /* bytes of payload; larger data go by put, announced by an active message */

/* Runs at the target, by its agent or by one of its threads that waits inside the library; handlers of one rank run one
 * at a time. A handler may put, get, signal, use atomics and send active messages; it must not wait, and must not call
 * collectives. */
typedef void (*kumiki_handler)(kumiki_job* job, int source, const void* payload, size_t bytes, void* context);

/* Collective: makes `function` callable from all ranks; *handler gets its number, the same at every rank. */
KUMIKI_API kumiki_status kumiki_register_handler(kumiki_job* job, kumiki_handler function, void* context, int* handler);

/* Runs handler number `handler` at rank `rank` with a copy of the payload. Messages of one thread to one rank keep
 * their order. */
KUMIKI_API kumiki_status kumiki_active_message(kumiki_job* job, int rank, int handler, const void* payload,
                                               size_t bytes);

/* Runs the handlers of the messages that have arrived; *handled (may be null) gets how many. */
KUMIKI_API kumiki_status kumiki_progress(kumiki_job* job, int* handled);

/* ---- messages (Maestro/MMP paper, section 4: MP_send, MP_receive, MP_wait) ----
 *
 * What one rank sends with a tag, another one receives by source and tag. A message goes to the earliest receive that
 * asks for it, a receive takes the earliest message that fits: so the messages of one thread to one rank with one tag
 * keep their order. A rank may send to itself. */

#define KUMIKI_ANY (-1) /* any source, any tag */

typedef struct kumiki_message_status {
    int source,
        tag; /* of a send, put or get: the other rank; KUMIKI_ANY when there was nothing to wait for, or no tag */
    size_t bytes;
} kumiki_message_status;

/* Sends `bytes` (0 is a message, too) at `data` to rank `rank`; a tag is 0 or more. Never waits. A short message is
 * complete at once, and *request null; the data of a longer one must stay as they are until it is waited for, which may
 * be until the other rank asks for it. */
KUMIKI_API kumiki_status kumiki_send(kumiki_job* job, int rank, int tag, const void* data, size_t bytes,
                                     kumiki_request* request);

/* Asks for a message of rank `rank` with tag `tag` (or KUMIKI_ANY). Never waits. `into` belongs to the library until it
 * is waited for; a shorter message leaves the rest as it was. */
KUMIKI_API kumiki_status kumiki_receive(kumiki_job* job, int rank, int tag, void* into, size_t bytes,
                                        kumiki_request* request);

/* Waits until *request is complete and makes it null; `status` may be null. Every request is waited for once, by this
 * or the functions below. A message that is longer than its receive is an error here, which names both lengths; it is
 * lost, the job goes on. */
KUMIKI_API kumiki_status kumiki_wait(kumiki_job* job, kumiki_request* request, kumiki_message_status* status);

/* The same without waiting: *complete says whether it was. */
KUMIKI_API kumiki_status kumiki_test(kumiki_job* job, kumiki_request* request, int* complete,
                                     kumiki_message_status* status);

/* Waits for one of `count` requests, and *place is which; null ones are passed over, and when all are null it is
 * `count`. */
KUMIKI_API kumiki_status kumiki_wait_any(kumiki_job* job, kumiki_request* requests, size_t count, size_t* place,
                                         kumiki_message_status* status);

/* Waits for all; `statuses` (one each) may be null. Of several errors the first is returned. */
KUMIKI_API kumiki_status kumiki_wait_all(kumiki_job* job, kumiki_request* requests, size_t count,
                                         kumiki_message_status* statuses);

/* What a receive with this source and tag would get; the message stays. *found says whether there is one; when `found`
 * is null, waits until there is. */
KUMIKI_API kumiki_status kumiki_probe(kumiki_job* job, int rank, int tag, int* found, kumiki_message_status* status);

/* ---- collectives of all ranks; those of some of them, and the ones that are there only, under "groups" ---- */

KUMIKI_API kumiki_status kumiki_barrier(kumiki_job* job);

/* Split-phase barrier: enter, compute, wait (HPCN'99). At most one is open at a time; no other collective in between.
 */
KUMIKI_API kumiki_status kumiki_barrier_enter(kumiki_job* job);
KUMIKI_API kumiki_status kumiki_barrier_wait(kumiki_job* job);

typedef enum kumiki_type {
    KUMIKI_INT32 = 0,
    KUMIKI_INT64 = 1,
    KUMIKI_UINT32 = 2,
    KUMIKI_UINT64 = 3,
    KUMIKI_FLOAT = 4,
    KUMIKI_DOUBLE = 5
} kumiki_type;
typedef enum kumiki_operation { KUMIKI_SUM = 0, KUMIKI_PRODUCT = 1, KUMIKI_MIN = 2, KUMIKI_MAX = 3 } kumiki_operation;

/* The same bytes count and root at every rank; a difference is an error at every rank. */
KUMIKI_API kumiki_status kumiki_broadcast(kumiki_job* job, void* data, size_t bytes, int root);

/* Combines `count` elements elementwise, on each host in the order of ranks and then in the order of hosts, so that
 * every rank gets the same bits. `input` may equal `output`. */
KUMIKI_API kumiki_status kumiki_reduce(kumiki_job* job, const void* input, void* output, size_t count, kumiki_type type,
                                       kumiki_operation operation, int root);
KUMIKI_API kumiki_status kumiki_all_reduce(kumiki_job* job, const void* input, void* output, size_t count,
                                           kumiki_type type, kumiki_operation operation);

/* Every rank sends `bytes` to every rank: input and output hold size x bytes, in rank order. */
KUMIKI_API kumiki_status kumiki_all_to_all(kumiki_job* job, const void* input, void* output, size_t bytes);

/* Sends input_bytes[r] from input + input_offsets[r] to rank r; receives output_bytes[r] from rank r at output +
 * output_offsets[r]. What rank a sends to b must be what b expects from a; a difference is an error at every rank. */
KUMIKI_API kumiki_status kumiki_all_to_all_v(kumiki_job* job, const void* input, const size_t* input_bytes,
                                             const size_t* input_offsets, void* output, const size_t* output_bytes,
                                             const size_t* output_offsets);

/* ---- groups: collectives of some of the ranks ----
 *
 * A group is some of the job's ranks in an order of their own, in which they are numbered from 0; the job is the first
 * group. Every collective works on a group: there "every rank" means every rank of the group, and `root` and the order
 * of pieces are by its numbers. Collectives of different groups may be under way at once, from different threads; each
 * group has one thread of each rank at a time in its collectives. A function that is given null, as a rank has that is
 * in no group or has freed it, fails with KUMIKI_ERROR_ARGUMENT. */

typedef struct kumiki_group kumiki_group;

/* All ranks of the job. It belongs to the job and is not freed. */
KUMIKI_API kumiki_group* kumiki_job_group(kumiki_job* job);

/* Collective over `group`: one new group for each colour, of the ranks that give it, in the order of their keys, and
 * where these are equal of their numbers in `group`. *made is null at a rank whose colour is negative. A rank can be in
 * 64 groups at a time, the job among them: where there would be more, all get KUMIKI_ERROR_STATE. */
KUMIKI_API kumiki_status kumiki_group_split(kumiki_group* group, int colour, int key, kumiki_group** made);

/* Collective over `group`: the group of these `count` ranks (numbers in `group`), in the order of the list, each once.
 * All ranks in a list give the same one; other ranks may give another, of a group of their own. *made is null at a rank
 * that is not in its own list. */
KUMIKI_API kumiki_status kumiki_group_create(kumiki_group* group, const int* ranks, size_t count, kumiki_group** made);

/* Frees *group and makes it null; null is no error. Every rank of the group does so after its last collective; nobody
 * waits. Its place counts towards the 64 until all ranks of the group on this host have freed it. Groups that are left
 * are freed by kumiki_leave. */
KUMIKI_API kumiki_status kumiki_group_free(kumiki_group** group);

/* The number of this rank in the group, and how many ranks it has; -1 for null. */
KUMIKI_API int kumiki_group_rank(const kumiki_group* group);
KUMIKI_API int kumiki_group_size(const kumiki_group* group);

/* The job's number of rank `rank` of the group, for put, get, send, ...; -1: there is no such rank. And the other way
 * round; -1: that rank is not in the group. */
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

/* `bytes` of every rank come to every rank: output holds size x bytes, in rank order. `input` may be its own place in
 * `output`. */
KUMIKI_API kumiki_status kumiki_group_all_gather(kumiki_group* group, const void* input, size_t bytes, void* output);

/* The same with output_bytes[r] of rank r at output + output_offsets[r]; the lengths are the same at every rank, and
 * output_bytes[own rank] is `bytes`. */
KUMIKI_API kumiki_status kumiki_group_all_gather_v(kumiki_group* group, const void* input, size_t bytes, void* output,
                                                   const size_t* output_bytes, const size_t* output_offsets);

/* `bytes` of every rank come to the root, whose output holds size x bytes, in rank order; elsewhere `output` is not
 * used. In gather_v the root knows all lengths, and each rank its own; the tables are used at the root alone. */
KUMIKI_API kumiki_status kumiki_group_gather(kumiki_group* group, const void* input, size_t bytes, void* output,
                                             int root);
KUMIKI_API kumiki_status kumiki_group_gather_v(kumiki_group* group, const void* input, size_t bytes, void* output,
                                               const size_t* output_bytes, const size_t* output_offsets, int root);

/* The other way round: rank r gets the r-th piece of the root's input, in `output`. */
KUMIKI_API kumiki_status kumiki_group_scatter(kumiki_group* group, const void* input, void* output, size_t bytes,
                                              int root);
KUMIKI_API kumiki_status kumiki_group_scatter_v(kumiki_group* group, const void* input, const size_t* input_bytes,
                                                const size_t* input_offsets, void* output, size_t bytes, int root);

/* Combines elementwise, at rank r the inputs of ranks 0 to r (an inclusive scan). `input` may equal `output`. */
KUMIKI_API kumiki_status kumiki_group_scan(kumiki_group* group, const void* input, void* output, size_t count,
                                           kumiki_type type, kumiki_operation operation);

/* Combines elementwise the size x count elements of every rank's input, and gives rank r the r-th `count` of them. In
 * reduce_scatter_v rank r gets counts[r] elements, which follow each other in this order; the counts are the same at
 * every rank. Input and output must not overlap. */
KUMIKI_API kumiki_status kumiki_group_reduce_scatter(kumiki_group* group, const void* input, void* output, size_t count,
                                                     kumiki_type type, kumiki_operation operation);
KUMIKI_API kumiki_status kumiki_group_reduce_scatter_v(kumiki_group* group, const void* input, void* output,
                                                       const size_t* counts, kumiki_type type,
                                                       kumiki_operation operation);

/* ---- teams: the threads of a rank (COMPaS paper, section 4) ---- */

typedef struct kumiki_team kumiki_team;

/* Starts a team of `threads` threads (0: as many as kumiki_threads says). The caller of kumiki_team_run is thread 0. */
KUMIKI_API kumiki_status kumiki_team_create(kumiki_job* job, int threads, kumiki_team** team);
KUMIKI_API void kumiki_team_destroy(kumiki_team* team);
KUMIKI_API int kumiki_team_size(const kumiki_team* team);

/* Runs function(context, thread) once on every thread of the team; returns when all have. Not from two threads at once.
 */
KUMIKI_API kumiki_status kumiki_team_run(kumiki_team* team, void (*function)(void* context, int thread), void* context);

/* Inside kumiki_team_run, by every thread of the team: waits for all threads of this rank. */
KUMIKI_API kumiki_status kumiki_team_barrier(kumiki_team* team, int thread);

/* A thread that leaves the function of kumiki_team_run before its time calls this: siblings that wait for it, now or
 * later in this run, get KUMIKI_ERROR_STATE instead of waiting for ever. */
KUMIKI_API void kumiki_team_break(kumiki_team* team, int thread);

/* Inside kumiki_team_run, by every thread of every rank: waits for all threads of the job (thread barrier, then rank
 * barrier). */
KUMIKI_API kumiki_status kumiki_team_barrier_all(kumiki_team* team, int thread);

/* Inside kumiki_team_run, by every thread of the team: combines `count` elements over the threads (or over all threads
 * of all ranks) in a fixed order; every thread gets the result in `data`. */
KUMIKI_API kumiki_status kumiki_team_reduce(kumiki_team* team, int thread, void* data, size_t count, kumiki_type type,
                                            kumiki_operation operation);
KUMIKI_API kumiki_status kumiki_team_reduce_all(kumiki_team* team, int thread, void* data, size_t count,
                                                kumiki_type type, kumiki_operation operation);

/* The part [*begin, *end) of 0 .. count that falls to `index` of `parts`: contiguous, sizes differ by at most one. */
KUMIKI_API void kumiki_part(size_t count, int parts, int index, size_t* begin, size_t* end);

#ifdef __cplusplus
}
#endif
#endif
