// What a thread has got from a private library it can use in later regions, wherever these run.
//
//   kept FIRST: from region number FIRST on.
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <vector>

#include "apart.hpp"

int main(int, char** arguments) {
    constexpr int regions = 12;
    const int first = std::atoi(arguments[1]);
    std::vector<apart::Counter*> counters(static_cast<std::size_t>(omp_get_max_threads()));
    for (int region = 0; region < regions; ++region) {
#pragma omp parallel
        {
            apart::Counter*& own = counters[static_cast<std::size_t>(omp_get_thread_num())];
            if (region == first) own = apart::make_counter();
            if (region >= first) apart::count(*own);
            if (region == regions - 1) {
#pragma omp critical
                std::printf("counted: %d\n", apart::counted(*own));
            }
        }
    }
    return 0;
}
