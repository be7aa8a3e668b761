// Memory that the program maps: arrays, files that it reads, parts that it unmaps, what it makes longer, and what it
// reserves before it uses it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 4096, length = 100 * page, count = length / sizeof(int) };

static void* map(size_t bytes, int flags, int file, off_t offset) {
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, offset);
    if (memory != MAP_FAILED) return memory;
    perror("mmap");
    exit(1);
}

/// All threads write it, and the one that runs main reads it.
static long sum_of_numbers(int* numbers, int length_of_numbers) {
    long not_zero = 0, sum = 0;
#pragma omp parallel for reduction(+ : not_zero)
    for (int i = 0; i < length_of_numbers; ++i) {
        not_zero += numbers[i] != 0;
        numbers[i] = i;
    }
    for (int i = 0; i < length_of_numbers; ++i) sum += numbers[i];
    return not_zero * 1000000000 + sum;
}

static void use_arrays(void) {
    for (int round = 0; round < 3; ++round) { // the memory of one is that of the next, and has zeros again
        int* numbers = map(length - 1, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        printf("round %d: %ld, at a page: %d\n", round, sum_of_numbers(numbers, count), (uintptr_t)numbers % page == 0);
        printf("unmapped: %d\n", munmap(numbers, length));
    }
    int* reserved = map(length, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    sum_of_numbers(reserved, count);
    printf("protected: %d\n", mprotect(reserved, page, PROT_READ));
    printf("open again: %d\n", mprotect(reserved, page, PROT_READ | PROT_WRITE));
    printf("dropped: %d", madvise(reserved, length, MADV_DONTNEED));
    printf(" %ld\n", sum_of_numbers(reserved, count));
    munmap(reserved, length);
    int* shared = map(length, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    printf("shared: %ld\n", sum_of_numbers(shared, count));
    printf("not dropped: %d", madvise(shared, length, MADV_DONTNEED));
    printf(" %d\n", shared[7]);
    munmap(shared, length);
}

/// The usual way to an address that is rounder than a page.
static void use_round_address(void) {
    const size_t round = 64 * page;
    char* memory = map(length + round, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const size_t before = (round - (uintptr_t)memory % round) % round;
    if (before != 0) munmap(memory, before);
    munmap(memory + before + length, round - before);
    printf("round address: %ld, %d\n", sum_of_numbers((int*)(memory + before), count),
           (uintptr_t)(memory + before) % round == 0);
    munmap(memory + before + page, length - page); // the rest is still there
    printf("rest: %d\n", ((int*)(memory + before))[5]);
    munmap(memory + before, page);
}

static void* map_at(void* address, size_t bytes, int allowed) {
    void* memory = mmap(address, bytes, allowed, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (memory == address) return memory;
    perror("mmap at an address");
    exit(1);
}

/// The last thread reserves and writes; what it takes into use again has zeros, if it asks for that.
static void use_reserved(void) {
    char *reserved = NULL, *fixed = NULL;
    const int none = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#pragma omp parallel shared(reserved, fixed)
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        reserved = mmap(NULL, 64 << 20, PROT_NONE, none, -1, 0);
        mprotect(reserved + page, length, PROT_READ | PROT_WRITE);
        memset(reserved + page, 3, 100);
        fixed = mmap(NULL, 16 * page, PROT_NONE, none, -1, 0);
        map_at(fixed + 2 * page, 4 * page, PROT_READ | PROT_WRITE);
        memset(fixed + 2 * page, 4, 4 * page);
        map_at(fixed + 3 * page, page, PROT_NONE);
    }
    printf("reserved: %d", reserved[page + 99]);
    printf(" %ld\n", sum_of_numbers((int*)(reserved + 2 * page), count / 2));
    printf("kept: %d %d\n", fixed[2 * page], fixed[6 * page - 1]);
    map_at(fixed + page, 3 * page, PROT_READ | PROT_WRITE);
    printf("again: %d %d %d\n", fixed[2 * page], fixed[3 * page], fixed[4 * page]);
    printf("zeros: %ld\n", sum_of_numbers((int*)(fixed + page), 3 * page / sizeof(int)));
    printf("unmapped: %d %d\n", munmap(reserved, 64 << 20), munmap(fixed, 16 * page));
}

static void make_longer(void) {
    int* numbers = map(length, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sum_of_numbers(numbers, count);
    numbers = mremap(numbers, length, 3 * length, MREMAP_MAYMOVE);
    printf("kept: %d, behind: %d\n", numbers[count - 1], numbers[count]);
    numbers = mremap(numbers, 3 * length, page, 0);
    printf("shorter: %d\n", numbers[page / sizeof(int) - 1]);
    munmap(numbers, page);
}

static void read_files(void) {
    char name[] = "/tmp/kumiki-mappings-XXXXXX";
    const int file = mkstemp(name);
    for (int i = 0; i < 3 * page; ++i)
        if (write(file, &(char){(char)(i / page + 1)}, 1) != 1) perror("write");
    for (int shared = 0; shared < 2; ++shared) {
        const int allowed = shared ? PROT_READ : PROT_READ | PROT_WRITE;
        unsigned char* bytes = mmap(NULL, 2 * page - 7, allowed, shared ? MAP_SHARED : MAP_PRIVATE, file, page);
        int ones = 0, twos = 0, threes = 0;
#pragma omp parallel for reduction(+ : ones, twos, threes)
        for (int i = 0; i < 2 * page - 7; ++i) {
            ones += bytes[i] == 1;
            twos += bytes[i] == 2;
            threes += bytes[i] == 3;
        }
        printf("in the file: %d %d %d\n", ones, twos, threes);
        if (!shared) {
            memset(bytes, 9, page);
            char* again = mmap(bytes, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
            printf("another part: %d %d %d\n", again == (char*)bytes, bytes[0], bytes[page]);
        }
        munmap(bytes, 2 * page - 7);
    }
    // What is not for this program alone reaches the file.
    char* to_file = map(page, MAP_SHARED, file, 0);
    to_file[0] = 'x';
    munmap(to_file, page);
    char first = 0;
    printf("written: %zd", pread(file, &first, 1, 0));
    printf(" %c\n", first);
    close(file);
    unlink(name);
}

static void make_mistakes(void) {
    errno = 0;
    printf("no bytes: %d", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    printf(" %s\n", strerror(errno));
    printf("no file: %d", mmap(NULL, page, PROT_READ, MAP_PRIVATE, 999, 0) == MAP_FAILED);
    printf(" %s\n", strerror(errno));
    char* memory = map(2 * page, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("no page: %d", munmap(memory + 1, page));
    printf(" %s\n", strerror(errno));
    printf("twice: %d %d\n", munmap(memory, page), munmap(memory, page));
    memory[page] = 1;
    munmap(memory, 2 * page);
}

int main(void) {
    use_arrays();
    use_round_address();
    use_reserved();
    make_longer();
    read_files();
    make_mistakes();
    return 0;
}
