#include "kernels/cg/vectors.hpp"

// The sums are taken in the order that suits the vector registers (omp simd), which the compiler may not choose by
// itself.

namespace kumiki::kernels::cg {

std::array<double, 4> step_products(std::span<const double> p, std::span<const double> q, std::span<const double> r) {
    double pq = 0, rq = 0, qq = 0, rr = 0;
#pragma omp simd reduction(+ : pq, rq, qq, rr)
    for (std::size_t i = 0; i < q.size(); ++i) {
        pq += p[i] * q[i];
        rq += r[i] * q[i];
        qq += q[i] * q[i];
        rr += r[i] * r[i];
    }
    return {pq, rq, qq, rr};
}

void step(double alpha, double beta, std::span<const double> q, std::span<double> z, std::span<double> r,
          std::span<double> p) {
#pragma omp simd
    for (std::size_t i = 0; i < q.size(); ++i) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        p[i] = r[i] + beta * p[i];
    }
}

std::array<double, 3> solution_products(std::span<const double> x, std::span<const double> z,
                                        std::span<const double> az) {
    double xz = 0, zz = 0, residual = 0;
#pragma omp simd reduction(+ : xz, zz, residual)
    for (std::size_t i = 0; i < x.size(); ++i) {
        xz += x[i] * z[i];
        zz += z[i] * z[i];
        residual += (x[i] - az[i]) * (x[i] - az[i]);
    }
    return {xz, zz, residual};
}

} // namespace kumiki::kernels::cg
