// What threads of one process have in common without its being memory: what main has changed of it, the threads find.
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

static int is(const char* found, const char* expected) {
    return found == NULL || expected == NULL ? found == expected : strcmp(found, expected) == 0;
}

// In how many threads a variable of the environment has this value.
static int threads_with(const char* name, const char* value) {
    int count = 0;
#pragma omp parallel reduction(+ : count)
    count += is(getenv(name), value);
    return count == omp_get_max_threads();
}

int main(void) {
    char folder[] = "/tmp/kumiki-state-XXXXXX";
    if (mkdtemp(folder) == NULL) return 1;
    // Before the first region, from which on there are threads.
    fesetround(FE_UPWARD);
    _mm_setcsr(_mm_getcsr() | 0x8040);
    setenv("KUMI_ONE", "1", 1);
    int rounds = 0, flushes = 0;
#pragma omp parallel reduction(+ : rounds, flushes)
    {
        rounds += fegetround() == FE_UPWARD;
        flushes += (_mm_getcsr() & 0x8040) == 0x8040;
    }
    printf("floating point: %d %d\n", rounds / omp_get_max_threads(), flushes / omp_get_max_threads());

    printf("set: %d\n", threads_with("KUMI_ONE", "1"));
    setenv("KUMI_ONE", "a longer value", 1);
    setenv("KUMI_ONE", "not this one", 0);
    printf("set again: %d\n", threads_with("KUMI_ONE", "a longer value"));
    static char text[] = "KUMI_TWO=2";
    putenv(text);
    unsetenv("KUMI_ONE");
    printf("put: %d, unset: %d\n", threads_with("KUMI_TWO", "2"), threads_with("KUMI_ONE", NULL));
    setenv("KUMI_TWO", "3", 1);
    const char* of_main = getenv("KUMI_TWO");
    int threes = 0;
#pragma omp parallel reduction(+ : threes)
    threes += is(of_main, "3");
    printf("of main: %d\n", threes / omp_get_max_threads());

    // Path, mask and locale.
    if (chdir(folder) != 0 || setlocale(LC_ALL, "C.UTF-8") == NULL) return 1;
    umask(077);
    FILE* here = fopen("here", "w");
    if (here == NULL) return 1;
    fclose(here);
    int opened = 0, masks = 0, letters = 0;
#pragma omp parallel reduction(+ : opened, masks, letters)
    {
        FILE* file = fopen("here", "r");
        opened += file != NULL;
        if (file != NULL) fclose(file);
        char name[20];
        struct stat found;
        snprintf(name, sizeof name, "own.%d", omp_get_thread_num());
        const int own = open(name, O_CREAT | O_RDWR, 0666);
        if (own >= 0 && fstat(own, &found) == 0) masks += (found.st_mode & 0777) == 0600;
        close(own);
        unlink(name);
        wchar_t wide[8];
        letters += (int)mbstowcs(wide, "\xc3\xa9t\xc3\xa9", 8);
    }
    printf("opened: %d, masked: %d, letters: %d\n", opened / omp_get_max_threads(), masks / omp_get_max_threads(),
           letters / omp_get_max_threads());

    unlink("here");
    if (chdir("/") != 0 || rmdir(folder) != 0) return 1;
    opened = 0;
#pragma omp parallel reduction(+ : opened)
    {
        char path[100];
        opened += is(getcwd(path, sizeof path), "/");
    }
    printf("back: %d\n", opened / omp_get_max_threads());
    int formatted = 0;
    omp_set_affinity_format("%n of %N");
#pragma omp parallel reduction(+ : formatted)
    {
        char found[40], expected[40];
        snprintf(expected, sizeof expected, "%d of %d", omp_get_thread_num(), omp_get_num_threads());
        omp_capture_affinity(found, sizeof found, NULL);
        formatted += strcmp(found, expected) == 0;
    }
    printf("format: %d\n", formatted / omp_get_max_threads());
    return 0;
}
