// The standard streams of C++, and string streams, in the threads of all processes. All lines are the same, because
// nobody orders those of different hosts.
#include <iomanip>
#include <iostream>
#include <omp.h>
#include <sstream>
#include <string>
#include <vector>

int main() {
    std::ios_base::sync_with_stdio(false);
    std::cin.tie(nullptr);
#pragma omp parallel for
    for (int i = 0; i < 12; ++i) {
#pragma omp critical
        std::cout << "line " << 12 << ' ' << std::setw(8) << std::fixed << std::setprecision(2) << 1 / 3.0
                  << std::string(3, 'a') << std::boolalpha << (i >= 0) << std::endl;
    }

    // Some that main has made, and some of the threads.
    std::vector<std::ostringstream> texts(static_cast<std::size_t>(omp_get_max_threads()));
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        const int thread = omp_get_thread_num();
        texts[static_cast<std::size_t>(thread)] << "thread " << thread << std::hex << " " << 255 << std::endl;
        std::istringstream numbers("1 2 3.5");
        int one = 0, other = 0;
        double third = 0;
        if (numbers >> one >> other >> third) sum += one + other + static_cast<int>(2 * third);
    }
    std::string expected, found;
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) {
        expected += "thread " + std::to_string(thread) + " ff\n";
        found += texts[static_cast<std::size_t>(thread)].str();
    }
    return expected == found && sum == 10 * omp_get_max_threads() ? 0 : 1;
}
