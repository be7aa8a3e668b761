#include "kernels/himeno/stencil.hpp"

namespace kumiki::kernels::himeno {
namespace {

double sum_of(const Strip& strip) {
    double sum = 0;
    for (const float each : strip) sum += static_cast<double>(each);
    return sum;
}

} // namespace

double relax_row(float* next, const Surroundings& p, const Coefficients* coefficients, std::size_t strips) {
    Strip squares{};
    for (std::size_t strip = 0; strip < strips; ++strip) {
        const auto& [a, b, c, wrk1, bnd] = coefficients[strip];
        const auto first = static_cast<std::ptrdiff_t>(strip * strip_columns);
        // No promise that nothing overlaps (`restrict`) would be true; that the lanes are independent is.
#pragma omp simd
        for (std::size_t lane = 0; lane < strip_columns; ++lane) {
            const std::ptrdiff_t k = first + static_cast<std::ptrdiff_t>(lane), before = k - 1, after = k + 1;
            const float sum = a[0][lane] * p.south[k] + a[1][lane] * p.east[k] + a[2][lane] * p.middle[after] +
                              b[0][lane] * (p.south_east[k] - p.south_west[k] - p.north_east[k] + p.north_west[k]) +
                              b[1][lane] * (p.east[after] - p.west[after] - p.east[before] + p.west[before]) +
                              b[2][lane] * (p.south[after] - p.north[after] - p.south[before] + p.north[before]) +
                              c[0][lane] * p.north[k] + c[1][lane] * p.west[k] + c[2][lane] * p.middle[before] +
                              wrk1[lane];
            const float residual = (sum * a[3][lane] - p.middle[k]) * bnd[lane];
            squares[lane] += residual * residual;
            next[k] = p.middle[k] + Problem::relaxation * residual;
        }
    }
    return sum_of(squares);
}

} // namespace kumiki::kernels::himeno
