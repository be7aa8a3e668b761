/* What a thread keeps from region to region, though it belongs to the process in which the thread runs.

   ties [WHAT FIRST]: a file, a variable of the thread, a lock that it has entered, or a thread that it has started,
   from region number FIRST on; without arguments each of them. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { regions = 12, most = 8 };

static FILE* files[most];
static omp_lock_t locks[most];
static pthread_t threads[most];
static int found[most];
static int own, has_started;
#pragma omp threadprivate(own, has_started)

static void* add(void* to) {
    ++*(int*)to;
    return NULL;
}

static void use_file(int me, int region, int first) {
    if (region == first) files[me] = tmpfile();
    if (region >= first) fprintf(files[me], "%d\n", me);
    if (region < regions - 1) return;
    rewind(files[me]);
    for (int line; fscanf(files[me], "%d", &line) == 1;) found[me] += line == me;
    fclose(files[me]);
}

static void use_variable(int me, int region, int first) {
    if (region >= first) ++own;
    if (region == regions - 1) found[me] = own;
}

static void use_lock(int me, int region, int first) {
    if (region == first) omp_set_lock(&locks[me]);
    if (region < regions - 1) return;
    omp_unset_lock(&locks[me]);
    omp_set_lock(&locks[me]);
    found[me] = 1;
    omp_unset_lock(&locks[me]);
}

static void use_thread(int me, int region, int first) {
    if (region == first) {
        has_started = pthread_create(&threads[me], NULL, add, &found[me]) == 0;
    } else if (region == regions - 1) {
        pthread_join(threads[me], NULL);
        found[me] += has_started;
    }
}

static void keep(const char* what, int first) {
    memset(found, 0, sizeof found);
    for (int region = 0; region < regions; ++region) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            if (strcmp(what, "file") == 0) use_file(me, region, first);
            if (strcmp(what, "variable") == 0) use_variable(me, region, first);
            if (strcmp(what, "lock") == 0) use_lock(me, region, first);
            if (strcmp(what, "thread") == 0) use_thread(me, region, first);
        }
    }
    for (int i = 0; i < omp_get_max_threads(); ++i) printf("%s from %d on: %d\n", what, first, found[i]);
}

int main(int count, char** arguments) {
    const char* const all[] = {"file", "variable", "lock", "thread"};
    for (int i = 0; i < most; ++i) omp_init_lock(&locks[i]);
    if (count == 3) keep(arguments[1], atoi(arguments[2]));
    else
        for (int i = 0; i < 4; ++i) keep(all[i], i);
    return 0;
}
