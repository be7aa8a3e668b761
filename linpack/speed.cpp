#include "linpack/speed.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "kernels/common/aligned.hpp"
#include "linpack/blas.hpp"
#include "linpack/layout.hpp"

namespace kumiki::linpack {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_rows = 1024, most_columns = 512;
constexpr int rounds = 3;
constexpr std::chrono::milliseconds round_time{100};

/// One thread's product, as an update makes it: C -= A B.
class Sample {
public:
    Sample(std::size_t rows, std::size_t columns, std::size_t depth)
        : rows_(rows), columns_(columns), depth_(depth), a_(rows * depth), b_(depth * columns), c_(rows * columns) {}

    double operations() const { return 2 * static_cast<double>(rows_ * columns_ * depth_); }
    void run() {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_length(rows_), blas_length(columns_),
                    blas_length(depth_), -1.0, a_.data(), blas_length(depth_), b_.data(), blas_length(columns_), 1.0,
                    c_.data(), blas_length(columns_));
    }

private:
    std::size_t rows_, columns_, depth_;
    kernels::AlignedVector<double> a_, b_, c_;
};

/// This thread's rate in one round.
double rate(Sample& sample) {
    const auto start = Clock::now();
    double operations = 0;
    do {
        sample.run();
        operations += sample.operations();
    } while (Clock::now() - start < round_time);
    return operations / std::chrono::duration<double>(Clock::now() - start).count() / 1e9;
}

} // namespace

double speed_of_rank(Job& job, const Grid& grid, std::size_t rows, std::size_t block) {
    const bool takes_part = grid.has(job.rank());
    Team team(job);
    std::vector<double> sums(rounds);
    team.run([&](Member& member) {
        std::optional<Sample> sample;
        if (takes_part) sample.emplace(rows, most_columns, block).run();
        for (double& sum : sums) {
            member.barrier_all();
            const double together = member.reduce(takes_part ? rate(*sample) : 0, Operation::sum);
            if (member.master()) sum = together;
        }
    });
    // The middle one of the rounds, each the sum over the threads.
    std::ranges::nth_element(sums, sums.begin() + rounds / 2);
    return sums[rounds / 2];
}

ColumnSpeeds ColumnSpeeds::of(const Grid& grid, std::span<const RankSpeed> of_ranks) {
    const auto columns = static_cast<std::size_t>(grid.columns);
    ColumnSpeeds speeds{std::vector<double>(columns), std::vector<double>(columns)};
    for (int rank = 0; grid.has(rank); ++rank) {
        const auto column = static_cast<std::size_t>(grid.column_of(rank));
        const RankSpeed& here = of_ranks[static_cast<std::size_t>(rank)];
        if (grid.row_of(rank) != 0 && here.together >= speeds.together[column]) continue;
        speeds.together[column] = here.together;
        speeds.alone[column] = here.alone;
    }
    return speeds;
}

ColumnSpeeds column_speeds(Job& job, const Grid& grid, std::size_t size, std::size_t block) {
    const std::size_t rows = std::clamp<std::size_t>(size / static_cast<std::size_t>(grid.rows), 1, most_rows);
    const double here = speed_of_rank(job, grid, rows, Layout::block_within(size, block));
    return ColumnSpeeds::of(grid, job.all_gather(RankSpeed{here, here / job.threads()}));
}

} // namespace kumiki::linpack
