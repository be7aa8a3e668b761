// A race: nothing orders the additions of two threads.
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel
    for (int i = 0; i < 1000; i++) sum++;
    printf("%d\n", sum > 0);
    return 0;
}
