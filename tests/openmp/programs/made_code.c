/* Code that the program makes while it runs, in memory of several kinds, and that all its threads execute, as that of
   compilers at run time (Xbyak, asmjit, LLVM). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096 };
typedef int (*function)(int);

static int is_wrong(int way) {
    /* lea eax, [rdi + 5]; ret: System V's calling convention for x86-64 */
    static const unsigned char plus_5[] = {0x8d, 0x47, 5, 0xc3};
    const int first = PROT_READ | PROT_WRITE, both = first | PROT_EXEC;
    void* memory = NULL;
    if (way == 2) {
        if (posix_memalign(&memory, page, page) != 0) return 1;
    } else {
        memory = mmap(NULL, page, way == 1 ? both : first, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return 1;
    }
    memcpy(memory, plus_5, sizeof plus_5);
    if (way != 1 && mprotect(memory, page, way == 2 ? both : PROT_READ | PROT_EXEC) != 0) return 1;
    function made;
    memcpy(&made, &memory, sizeof made);
    int sum = made(1);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += made(i);
    /* It is changed between regions. */
    if (way == 0 && mprotect(memory, page, first) != 0) return 1;
    ((unsigned char*)memory)[2] = 7;
    if (way == 0 && mprotect(memory, page, PROT_READ | PROT_EXEC) != 0) return 1;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += made(i);
    return sum != 6 + 4950 + 500 + 4950 + 700;
}

int main(void) {
#ifdef __x86_64__
    for (int way = 0; way < 3; way++) printf("way %d: %s\n", way, is_wrong(way) ? "wrong" : "right");
#endif
}
