// Functions within functions whose addresses are taken: the compiler writes code for them on the stack.
#include <stdio.h>

__attribute__((noinline)) static int call(int (*function)(int), int x) { return function(x); }

static int plus_twice(int i) {
    volatile int twice = 2 * i;
    int add(int x) { return x + twice; }
    return call(add, i);
}

int main(void) {
    volatile int base = 7;
    int add(int x) { return x + base; }
    printf("by main: %d\n", call(add, 1));
    int sum = 0, own = 0;
#pragma omp parallel for reduction(+ : sum, own) schedule(static)
    for (int i = 0; i < 100; ++i) {
        sum += call(add, i);
        own += plus_twice(i);
    }
    printf("by all: %d, their own: %d\n", sum, own);
    return 0;
}
