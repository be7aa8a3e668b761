// Variables of the environment that libgomp reads since GCC 13: names with _ALL, and OMP_ALLOCATOR with traits.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int pinned_pages(void) {
    FILE* const status = fopen("/proc/self/status", "r");
    char line[200];
    int kilobytes = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmLck: %d", &kilobytes);
    if (status != NULL) fclose(status);
    return kilobytes / 4;
}

static void print_allocator(void) {
    const int before = pinned_pages();
    char* const block = omp_alloc(20000, omp_null_allocator);
    memset(block, 1, 20000);
    printf("%d bytes beside 512, %s, %s room for another block\n", (int)((uintptr_t)block % 512),
           pinned_pages() > before ? "pinned" : "not pinned",
           omp_alloc(20000, omp_null_allocator) == NULL ? "no" : "still");
    omp_free(block, omp_null_allocator);
    char* const next = omp_alloc(20000, omp_null_allocator);
    printf("%s room again, %s\n", next != NULL ? "there is" : "no",
           (omp_free(next, omp_null_allocator), pinned_pages()) > before ? "still pinned" : "not pinned any more");
}

int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("schedule %d, %d; dynamic %d; at most %d threads, %d levels, %d teams with %d\n", (int)kind, chunk,
           omp_get_dynamic(), omp_get_thread_limit(), omp_get_max_active_levels(), omp_get_max_teams(),
           omp_get_teams_thread_limit());
    print_allocator();
}
