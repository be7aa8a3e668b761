// What is done at the end of the program because threads of all processes have said so.
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <string>

namespace {

struct Statistics {
    std::string name = "statistics";
    long count = 0;
    ~Statistics() { std::printf("%s: %ld\n", name.c_str(), count); }
};

Statistics& statistics() {
    static Statistics all;
    return all;
}

void say() { std::puts("a handler"); }
void say_more() { std::puts("one that a region's last act has named"); }

} // namespace

int main() {
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        statistics().count = 41;
        if (std::atexit(say) != 0) std::puts("no handler");
    }
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) std::atexit(say_more);
    ++statistics().count;
    std::printf("main sees %ld\n", statistics().count);
    std::fflush(stdout);
}
