// Threads that wait for each other by variables of std::atomic, and by functions that look at one, in a program that
// is built without optimisation: then its loops call functions, and keep everything on the stack.
#include <atomic>
#include <cstdio>
#include <omp.h>

namespace {

constexpr int rounds = 60, length = 1024;

std::atomic<int> written, read_back;
std::atomic<bool> is_full;
std::atomic<double> exactly; // whose functions copy by way of the stack
double value[length];        // by which round it was written last

bool has_written(int round) { return written.load(std::memory_order_acquire) >= round; }

void await_number(int round) {
    while (written.load(std::memory_order_acquire) != round) {}
}
void await_by_function(int round) {
    while (!has_written(round)) {}
}
void await_value(int round) {
    while (exactly.load(std::memory_order_acquire) != round) {}
}
void await_flag(int /*round*/) {
    while (!is_full.load()) {}
}

int hand_over(void (*await)(int)) {
    int old = 0; // values that were found and should not have been there any more
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        if (me == 0) written = read_back = 0; // which decides where their home is
        if (me == 0) is_full = false, exactly = 0;
#pragma omp barrier
        for (int i = 0; me == last && i < length; ++i) value[i] = 0;
#pragma omp barrier
        for (int round = 1; last > 0 && round <= rounds; ++round) {
            if (me == last) {
                for (double& each : value) each = round;
                written.store(round, std::memory_order_release);
                exactly.store(round, std::memory_order_release);
                is_full.store(true, std::memory_order_release);
                while (read_back.load(std::memory_order_acquire) != round) {}
            } else if (me == 0) {
                await(round);
                for (const double each : value) old += each != round ? 1 : 0;
                is_full.store(false, std::memory_order_relaxed);
                read_back.store(round, std::memory_order_release);
            }
        }
    }
    return old;
}

} // namespace

int main() {
    std::printf("number: old %d\n", hand_over(await_number));
    std::printf("function: old %d\n", hand_over(await_by_function));
    std::printf("value: old %d\n", hand_over(await_value));
    std::printf("flag: old %d\n", hand_over(await_flag));
    return 0;
}
