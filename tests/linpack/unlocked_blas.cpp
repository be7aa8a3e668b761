// A DGEMM like that of a BLAS library without locks: it is right for one caller at a time, because all callers share
// one buffer. A test preloads it before the real library.
#include <chrono>
#include <thread>
#include <vector>

// The arguments of the CBLAS interface; only what Linpack uses is followed: by rows, nothing transposed.
extern "C" __attribute__((visibility("default"))) void cblas_dgemm(int, int, int, int rows, int columns, int depth,
                                                                   double alpha, const double* left, int left_lead,
                                                                   const double* right, int right_lead, double beta,
                                                                   double* result, int result_lead) {
    static std::vector<double> buffer(std::size_t{1} << 20);
    const auto at = [](int row, int lead, int column) {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(lead) + static_cast<std::size_t>(column);
    };
    for (int row = 0; row < rows; ++row)
        for (int k = 0; k < depth; ++k) buffer[at(row, depth, k)] = left[at(row, left_lead, k)];
    std::this_thread::sleep_for(std::chrono::microseconds(200)); // long enough for another caller to write into it
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            double sum = 0;
            for (int k = 0; k < depth; ++k) sum += buffer[at(row, depth, k)] * right[at(k, right_lead, column)];
            double& element = result[at(row, result_lead, column)];
            element = beta * element + alpha * sum;
        }
}
