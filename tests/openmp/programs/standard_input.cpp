// The last thread, which another process has, reads standard input in one way or another; without an argument main and
// the first thread do.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <omp.h>
#include <unistd.h>

namespace {

int number_by(const char* how) {
    int number = 0;
    if (std::strcmp(how, "read") == 0) {
        char text[2] = "";
        if (read(STDIN_FILENO, text, 1) == 1) number = text[0] - '0';
    } else if (std::strcmp(how, "scanf") == 0) {
        if (std::scanf("%d", &number) != 1) number = -1;
    } else {
        std::cin >> number;
    }
    return number;
}

} // namespace

int main(int count, char** arguments) {
    int numbers[3] = {};
    if (count < 2) numbers[0] = number_by("scanf");
#pragma omp parallel
    {
        if (count < 2) {
#pragma omp masked
            numbers[1] = number_by("cin");
        } else if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            numbers[2] = number_by(arguments[1]);
        }
    }
    std::printf("numbers %d %d %d\n", numbers[0], numbers[1], numbers[2]);
    return 0;
}
