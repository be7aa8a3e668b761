/* Variables and heap whose pages may have their homes anywhere: regions of several patterns change and read them, and
 * the kernel gets their addresses: paths, buffers and structures. */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { rows = 96, columns = 512, bytes = 200000 };

static double field[rows][columns];       /* 384 KiB, zeros */
static long table[40000] = {[39999] = 7}; /* 320 KB with contents */
static char buffer[bytes], again[bytes];  /* for files */
static char path[8192] = "placement-XXXXXX";
static struct stat about;
static struct rusage usage;
static unsigned char dealt[5000];

static double sum(void) {
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) all += field[i][j];
    return all;
}

static void sweep(int round) {
#pragma omp parallel for
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) field[i][j] += i + j + round;
#pragma omp parallel for
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) field[i][j] -= j;
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) field[i][j] += 1;
#pragma omp parallel for schedule(guided)
    for (int i = rows - 1; i >= 0; --i)
        for (int j = 0; j < columns; ++j) field[i][j] += 2;
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) field[i][j] -= 3;
}

/* Each iteration once, whoever takes it; ordered ones in order. */
static void deal(int chunk) {
    int wrong = 0, next = 0, disordered = 0;
    memset(dealt, 0, sizeof dealt);
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, chunk) nowait
        for (int i = 0; i < 5000; ++i) dealt[i] += 1;
#pragma omp for schedule(guided, chunk) nowait
        for (int i = 0; i < 1; ++i) dealt[i] += 0;
#pragma omp for schedule(monotonic : dynamic, chunk)
        for (int i = 0; i < 3; ++i) dealt[i] += 0;
#pragma omp for schedule(dynamic, chunk) ordered
        for (int i = 0; i < 40; ++i) {
#pragma omp ordered
            disordered += next++ != i;
        }
    }
    for (int i = 0; i < 5000; ++i) wrong += dealt[i] != 1;
    printf("dealt in chunks of %d: %d wrong, %d out of order\n", chunk, wrong, disordered);
}

/* Each thread's iterations rise where the loop says so, although the first thread is slow and others take its part. */
static void rise(void) {
    int falls = 0;
    omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp parallel reduction(+ : falls)
    {
        int last = -1;
#pragma omp for schedule(monotonic : dynamic)
        for (int i = 0; i < 40; ++i) {
            falls += i < last;
            last = i;
            if (omp_get_thread_num() == 0) usleep(2000);
        }
        last = -1;
#pragma omp for schedule(monotonic : runtime)
        for (int i = 0; i < 40; ++i) {
            falls += i < last;
            last = i;
            if (omp_get_thread_num() == 0) usleep(2000);
        }
    }
    printf("falls %d\n", falls);
}

static void files(void) {
    int file = mkstemp(path);
#pragma omp parallel for
    for (int i = 0; i < bytes; ++i) buffer[i] = (char)(i * 7 % 251);
    printf("wrote %zd\n", write(file, buffer, bytes));
#pragma omp parallel for
    for (int i = 0; i < bytes; ++i) again[i] = 1;
    lseek(file, 0, SEEK_SET);
    printf("read %zd\n", read(file, again, bytes));
    printf("the same: %d\n", memcmp(buffer, again, bytes) == 0);
    close(file);
#pragma omp parallel
    {
#pragma omp critical
        strcat(path, ""); /* a page of whoever was last */
#pragma omp for
        for (int i = 0; i < bytes; ++i) again[i] = 2;
    }
    FILE* stream = fopen(path, "r+");
    printf("fread %zu\n", fread(again, 1, bytes, stream));
    printf("the same: %d\n", memcmp(buffer, again, bytes) == 0);
#pragma omp parallel for
    for (int i = 0; i < bytes; ++i) buffer[i] = (char)(buffer[i] + 1);
    rewind(stream);
    printf("fwrite %zu\n", fwrite(buffer, 1, bytes, stream));
    fclose(stream);
    static char of_stream[65536];
#pragma omp parallel for
    for (int i = 0; i < (int)sizeof of_stream; ++i) of_stream[i] = 0;
    stream = fopen(path, "r");
    setvbuf(stream, of_stream, _IOFBF, sizeof of_stream);
    printf("fgetc %d\n", fgetc(stream));
    fclose(stream);
    printf("stat %d\n", stat(path, &about));
    printf("has %ld\n", (long)about.st_size);
    printf("getrusage %d, system %d\n", getrusage(RUSAGE_SELF, &usage), system("exit 3") >> 8);
    printf("unlink %d\n", unlink(path));
}

/* After main, when nobody waits for anything any more. */
__attribute__((destructor)) static void last(void) { printf("last %d %ld\n", dealt[4999], table[20000]); }

int main(void) {
    double* heap = malloc(sizeof(double) * 60000);
    for (int i = 0; i < 40000; ++i) table[i] += i;
    for (int round = 0; round < 4; ++round) {
        sweep(round);
        printf("%d: %.0f\n", round, sum());
    }
    long all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int i = 0; i < 40000; ++i) all += table[i];
#pragma omp parallel for
    for (int i = 0; i < 60000; ++i) heap[i] = i;
#pragma omp parallel for reduction(+ : all) schedule(static, 100)
    for (int i = 0; i < 60000; ++i) all += (long)heap[i];
    printf("table and heap: %ld\n", all);
    for (int chunk = 1; chunk < 3000; chunk *= 12) deal(chunk);
    rise();
    files();
    free(heap);
    return 0;
}
