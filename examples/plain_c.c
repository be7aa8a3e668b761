/* The C interface: the same library for C, and for every language that can call C. Each function returns a code, and
 * kumiki_error_message() returns the sentence for it.
 *
 *     kumiki-run -n 2 ./plain_c
 */
#include <kumiki/kumiki.h>
#include <stdio.h>
#include <stdlib.h>

/* Exits with the library's error message when a call has failed. The launcher then ends the other ranks. */
static void check(kumiki_status status) {
    if (status == KUMIKI_OK) return;
    fprintf(stderr, "plain_c: %s\n", kumiki_error_message());
    exit(1);
}

int main(void) {
    kumiki_job* job;
    void* memory;
    check(kumiki_join(&job));
    check(kumiki_allocate(job, sizeof(int), &memory));
    int* greeting = memory; /* zero at every rank; this address names the same place at every other rank */

    const int rank = kumiki_rank(job), size = kumiki_size(job), value = 1000 + rank;
    check(kumiki_put(job, (rank + 1) % size, greeting, &value, sizeof value));
    check(kumiki_barrier(job));

    const int left = (rank + size - 1) % size;
    if (*greeting != 1000 + left) {
        fprintf(stderr, "plain_c: rank %d found %d instead of the greeting of rank %d\n", rank, *greeting, left);
        exit(1);
    }
    printf("rank %d of %d was greeted by rank %d\n", rank, size, left);

    check(kumiki_release(job, memory));
    check(kumiki_leave(job));
    return 0;
}
