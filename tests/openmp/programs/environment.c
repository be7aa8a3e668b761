// What the variables of the environment decide: places, binding, the threads' stacks, and how many threads there are.
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static size_t stack_bytes(void) {
    pthread_attr_t attributes;
    void* begin;
    size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

static void print_places(void) {
    for (int place = 0; place < omp_get_num_places(); ++place) {
        int processors[1024];
        const int count = omp_get_place_num_procs(place);
        omp_get_place_proc_ids(place, processors);
        printf("place %d:", place);
        for (int i = 0; i < count && i < 1024; ++i) printf(" %d", processors[i]);
        printf("\n");
    }
}

static void print_thread(void) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    printf("thread %d: place %d of %d, processors", omp_get_thread_num(), omp_get_place_num(),
           omp_get_partition_num_places());
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) printf(" %d", cpu);
    printf("\n");
}

/* Threads of the program, each of which has a region of its own at the same time as the others. */
static pthread_barrier_t together;
static void* start_region(void* threads) {
#pragma omp parallel num_threads(4)
#pragma omp master
    {
        *(int*)threads = omp_get_num_threads();
        pthread_barrier_wait(&together);
    }
    return NULL;
}
static void print_threads_of_threads(void) {
    enum { count = 3 };
    pthread_t threads[count];
    int got[count];
    pthread_barrier_init(&together, NULL, count);
    for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, start_region, &got[i]);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
    printf("threads of threads %d %d %d\n", got[0], got[1], got[2]);
}

int main(void) {
    printf("places %d, bind %d, limit %d, levels %d\n", omp_get_num_places(), (int)omp_get_proc_bind(),
           omp_get_thread_limit(), omp_get_max_active_levels());
    print_places();
    int place = omp_get_place_num();
#pragma omp target map(tofrom : place)
    place = 100 * place + omp_get_place_num();
    printf("at the beginning and on the device: place %d\n", place);
    print_thread();
    size_t least = (size_t)-1;
    int threads = 0;
#pragma omp parallel num_threads(6) reduction(min : least)
    {
#pragma omp master
        threads = omp_get_num_threads();
        if (omp_get_thread_num() > 0) least = stack_bytes();
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); ++i)
#pragma omp ordered
            print_thread();
    }
    printf("threads %d, stack of %zu KiB\n", threads, threads > 1 ? least >> 10 : 0);
    int levels = 0, inner = 0;
#pragma omp parallel proc_bind(spread) reduction(+ : levels, inner)
#pragma omp parallel proc_bind(close) reduction(+ : levels, inner)
    {
        levels += omp_get_active_level();
        inner += omp_get_num_threads();
    }
    printf("nested %d %d\n", levels, inner);
    print_threads_of_threads();
    return 0;
}
