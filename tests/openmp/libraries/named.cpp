// Threads let a library without OpenMP make objects, and use those of other threads.
#include <cstdio>
#include <vector>

#include "plain.hpp"

int main() {
    constexpr int count = 1000;
    std::vector<plain::Item*> items(count);
#pragma omp parallel for
    for (int i = 0; i < count; ++i) items[i] = plain::make(i);
    std::printf("made %d, the last one is %s\n", plain::count(), plain::name_of(*items.back()).c_str());
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < count; ++i) {
        const plain::Item& other = *items[count - 1 - i];
        sum += plain::number_of(other) + static_cast<long>(plain::name_of(other).size());
    }
    std::printf("sum %ld\n", sum);
#pragma omp parallel for
    for (int i = 0; i < count; ++i) plain::release(items[count - 1 - i]);
    std::printf("left %d\n", plain::count());
    return 0;
}
