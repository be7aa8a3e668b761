/* Target and teams constructs run on the host. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* What thread_limit and the function of that name decide, and what is left of them. */
static void limit_threads(void) {
    int got[4] = {0}, limits[4] = {0};
#pragma omp teams num_teams(1) thread_limit(2)
#pragma omp parallel num_threads(5)
#pragma omp single
    {
        got[0] = omp_get_num_threads();
        limits[0] = omp_get_thread_limit();
    }
#pragma omp target thread_limit(3) map(tofrom : got, limits)
#pragma omp parallel num_threads(5)
#pragma omp single
    {
        got[1] = omp_get_num_threads();
        limits[1] = omp_get_thread_limit();
    }
#pragma omp target teams num_teams(2) thread_limit(4) map(tofrom : got, limits)
#pragma omp parallel num_threads(5)
#pragma omp single
    {
        got[2] = omp_get_num_threads();
        limits[2] = omp_get_thread_limit();
    }
    omp_set_teams_thread_limit(2);
#pragma omp teams num_teams(1)
#pragma omp parallel num_threads(5)
#pragma omp single
    {
        got[3] = omp_get_num_threads();
        limits[3] = omp_get_thread_limit();
    }
    omp_set_teams_thread_limit(0);
    for (int i = 0; i < 4; ++i) printf("%d of %d, ", got[i], limits[i]);
    printf("then %d\n", omp_get_thread_limit());
}

/* A construct with nowait does not wait for the tasks before it: their events come later in the same thread. */
static void depend_on_events(void) {
    int value = 0, kept = 5, copied = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : value)
        value = 1;
#pragma omp target nowait depend(inout : value) map(tofrom : value, copied) firstprivate(kept)
        {
            value++;
            copied = kept;
        }
#pragma omp target update to(value) nowait depend(in : value)
#pragma omp target enter data map(to : value) nowait depend(in : value)
        kept = 7;
        omp_fulfill_event(event);
#pragma omp target exit data map(from : value) nowait depend(in : value)
#pragma omp taskwait
    }
    printf("events %d %d\n", value, copied);
}

/* A target region begins with what the environment says, and outside of the teams around it. */
static void begin_anew(void) {
    int threads = 0, dynamic = 1, teams = 0;
    omp_set_num_threads(omp_get_max_threads() + 2);
    omp_set_dynamic(1);
#pragma omp target map(from : threads, dynamic)
    {
        threads = omp_get_max_threads();
        dynamic = omp_get_dynamic();
    }
    printf("anew %d %d\n", omp_get_max_threads() - threads, dynamic);
    omp_set_num_threads(omp_get_max_threads() - 2);
    omp_set_dynamic(0);
#pragma omp teams num_teams(2) reduction(+ : teams)
#pragma omp parallel num_threads(1) reduction(+ : teams)
#pragma omp target map(tofrom : teams)
    teams += 10 * omp_get_num_teams() + omp_get_team_num();
    printf("teams inside %d\n", teams);
}

/* Asynchronous copies come after the tasks that their depend objects name. libgomp has them from GCC 13 on; with an
 * older one there is nothing to try, but the same to print. */
int omp_target_memcpy_async(void*, const void*, size_t, size_t, size_t, int, int, int, omp_depend_t*)
    __attribute__((weak));
int omp_target_memcpy_rect_async(void*, const void*, size_t, int, const size_t*, const size_t*, const size_t*,
                                 const size_t*, const size_t*, int, int, int, omp_depend_t*) __attribute__((weak));
static void copy_after_tasks(void) {
    const int can = omp_target_memcpy_async != NULL && omp_target_memcpy_rect_async != NULL;
    int from[4] = {0}, to[4] = {1, 0, 0, 4}, box[4] = {0, 2};
    const size_t volume[] = {1, 2}, offset[] = {0, 0}, size[] = {2, 2};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_depend_t object;
        omp_event_handle_t event;
#pragma omp depobj(object) depend(inout : from)
#pragma omp task detach(event) depend(out : from)
        {}
#pragma omp task depend(inout : from) shared(from)
        for (int i = 0; i < 4; i++) from[i] = i + 1;
        const int host = omp_get_initial_device();
        if (can) {
            to[0] = to[3] = box[1] = 0;
            omp_target_memcpy_async(to, from, sizeof to, 0, 0, host, host, 1, &object);
            omp_target_memcpy_rect_async(box, from, sizeof(int), 2, volume, offset, offset, size, size, host, host, 1,
                                         &object);
        }
        omp_fulfill_event(event);
#pragma omp taskwait
#pragma omp depobj(object) destroy
    }
    printf("copied after tasks %d %d %d %d\n", to[0], to[3], box[1], box[2]);
}

// Loops that are dealt out while they run, in target constructs and besides, and one in a construct inside a region.
static void deal_out(void) {
    int counts[300] = {0}, wrong = 0;
    for (int pass = 0; pass < 3; pass++) {
#pragma omp target parallel for schedule(guided, 4) map(tofrom : counts)
        for (int i = 0; i < 300; i++) counts[i]++;
#pragma omp parallel for schedule(dynamic, 7)
        for (int i = 0; i < 300; i++) counts[i]++;
#pragma omp target teams distribute parallel for schedule(dynamic, 3) num_teams(2) map(tofrom : counts)
        for (int i = 0; i < 300; i++) counts[i]++;
#pragma omp parallel
#pragma omp single
#pragma omp target teams distribute parallel for schedule(dynamic, 5) map(tofrom : counts)
        for (int i = 0; i < 300; i++) counts[i]++;
    }
    for (int i = 0; i < 300; i++) wrong += counts[i] != 12;
    printf("dealt out %d wrong\n", wrong);
}

int main(void) {
    int values[100], sum = 0, scalar = 5, other = 1, where = 0;
    for (int i = 0; i < 100; i++) values[i] = i;
#pragma omp target map(tofrom : values, where) firstprivate(scalar)
    {
        for (int i = 0; i < 100; i++) values[i] += scalar;
        scalar = 99;
        where = omp_is_initial_device();
    }
#pragma omp target data map(tofrom : values)
    {
#pragma omp target update to(values)
#pragma omp target map(tofrom : sum)
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 100; i++) sum += values[i];
    }
    printf("sum %d scalar %d where %d\n", sum, scalar, where);
    long total = 0;
#pragma omp target teams distribute parallel for map(tofrom : total) reduction(+ : total) num_teams(3)
    for (int i = 0; i < 1000; i++) total += i;
    printf("total %ld\n", total);
#pragma omp target enter data map(to : other)
#pragma omp target exit data map(from : other)
    int nowait = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp target nowait map(tofrom : nowait) depend(out : nowait)
        nowait = 4;
#pragma omp target nowait map(tofrom : nowait) depend(inout : nowait)
        nowait *= 5;
#pragma omp taskwait
    }
    printf("nowait %d\n", nowait);
    /* All threads of a team know its number. */
    int numbers[8] = {0};
#pragma omp target teams num_teams(3) map(tofrom : numbers) reduction(+ : numbers)
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 8; ++i) numbers[i] += omp_get_team_num() * 10 + omp_get_num_teams();
    for (int i = 0; i < 8; ++i) printf("%d ", numbers[i]);
    printf("by the threads of teams\n");

    int teams = 0;
#pragma omp teams num_teams(4) reduction(+ : teams)
    teams += omp_get_team_num() * 10 + omp_get_num_teams();
    printf("teams %d\n", teams);
    int* device = omp_target_alloc(sizeof(int) * 10, omp_get_initial_device());
    omp_target_memcpy(device, values, sizeof(int) * 10, 0, 0, omp_get_initial_device(), omp_get_initial_device());
    printf("copied %d present %d\n", device[9], omp_target_is_present(values, omp_get_initial_device()));
    omp_target_free(device, omp_get_initial_device());
    limit_threads();
    depend_on_events();
    begin_anew();
    copy_after_tasks();
    deal_out();
    return 0;
}
