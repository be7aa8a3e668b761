#include "linpack/blas_check.hpp"

#include <fmt/format.h>

#include <atomic>
#include <stdexcept>

#include "kernels/common/aligned.hpp"
#include "kernels/common/blas_library.hpp"
#include "linpack/blas.hpp"

namespace kumiki::linpack {

namespace {

/// A product of small whole numbers, different for each thread, so that a mixture of two threads' products is wrong.
class ExactProduct {
public:
    explicit ExactProduct(std::size_t seed) : left_(rows * depth), right_(depth * columns), expected_(rows * columns) {
        for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = digit(i * 7 + seed);
        for (std::size_t i = 0; i < right_.size(); ++i) right_[i] = digit(i * 5 + 3 * seed);
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t k = 0; k < depth; ++k)
                for (std::size_t column = 0; column < columns; ++column)
                    expected_[row * columns + column] -= left_[row * depth + k] * right_[k * columns + column];
    }

    bool is_right() const {
        kernels::AlignedVector<double> result(rows * columns, 0.0);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(rows), blas_length(columns),
                    blas_length(depth), -1.0, left_.data(), blas_length(depth), right_.data(), blas_length(columns),
                    1.0, result.data(), blas_length(columns));
        return result == expected_;
    }

private:
    /// Odd lengths, so that the library takes its paths for edges, too.
    static constexpr std::size_t rows = 67, columns = 93, depth = 131;

    static double digit(std::size_t i) { return static_cast<double>(i % 17) - 8; }

    kernels::AlignedVector<double> left_, right_, expected_;
};

[[noreturn]] void refuse(const std::string& what, const char* remedy) {
    throw std::runtime_error(
        fmt::format("the BLAS library ({}) computes wrong products{}; {}", kernels::blas_name(), what, remedy));
}

} // namespace

void check_blas(Job& job) {
    if (!ExactProduct(0).is_right()) refuse("", "build Kumiki with another one (-DKUMIKI_CBLAS=...)");
    Team team(job);
    constexpr int tries = 8;
    std::atomic<bool> right{true};
    team.run([&](Member& member) {
        const ExactProduct product(static_cast<std::size_t>(member.thread()));
        member.barrier();
        for (int made = 0; made < tries; ++made)
            if (!product.is_right()) right = false;
    });
    if (!right)
        refuse(fmt::format(" when {} threads call it at the same time, as one that was built without locks does",
                           team.size()),
               "use one thread for each rank (-t 1), or build Kumiki with another library (-DKUMIKI_CBLAS=...)");
}

} // namespace kumiki::linpack
