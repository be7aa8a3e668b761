// A target construct that must not run on this host: OMP_TARGET_OFFLOAD says so, or its device does.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
    const int device = count > 1 ? atoi(arguments[1]) : omp_get_default_device();
    int x = 0;
    printf("device %d\n", device);
    fflush(stdout);
#pragma omp target map(tofrom : x) device(device)
    x = 1;
    printf("ran there: %d\n", x);
}
