#include "kernels/laplace/task.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels::laplace {
namespace {

TEST(CheckedIterations, are_all_unless_the_grid_is_large) {
    EXPECT_EQ(checked_iterations({640, 1000}), 1000u);
    EXPECT_EQ(checked_iterations({10, 5}), 5u);
    EXPECT_LT(checked_iterations({8192, 1000}), 100u);
    EXPECT_EQ(checked_iterations({1u << 20, 1000}), 1u);
}

TEST(ComputeReference, finds_that_jacobi_converges) {
    for (const std::size_t size : {1u, 5u, 64u, 300u}) EXPECT_TRUE(compute_reference({size, 40}).converges) << size;
}

TEST(Solver, leaves_the_bits_of_the_sequential_run_with_any_number_of_workers_and_again) {
    const Problem problem{23, 11};
    const std::uint64_t expected = compute_reference(problem).checksum;
    for (const int workers : {1, 2, 3, 7, 23})
        for (const bool overlap : {false, true}) {
            OpenMpCrew crew(workers);
            Solver solver(crew, problem, overlap);
            for (int run = 0; run < 3; ++run) {
                solver.run(problem.iterations);
                EXPECT_EQ(solver.checksum(), expected) << workers << " workers, run " << run;
            }
        }
}

/// A crew that computes correctly but adds up wrongly when told to.
class Miscounting : public SequentialCrew {
public:
    class Worker : public SequentialCrew::Worker {
    public:
        explicit Worker(std::uint64_t error) : error_(error) {}
        using SequentialCrew::Worker::sum;
        std::uint64_t sum(std::uint64_t value) const { return value + error_; }

    private:
        std::uint64_t error_;
    };

    explicit Miscounting(std::uint64_t error) : error_(error) {}
    template <class Body>
    RunTimes run(Body body) {
        Worker worker(error_);
        return timed(worker, body);
    }

private:
    std::uint64_t error_;
};

TEST(MeasureOn, fails_when_the_grid_differs_from_the_sequential_one) {
    Task task;
    task.problem = {20, 10};
    task.budget.samples = 3;
    task.budget.seconds = 0;
    const auto exit_code_and_output = [&](std::uint64_t error) {
        Miscounting crew(error);
        testing::internal::CaptureStdout();
        const int code = measure_on(crew, task);
        return std::pair{code, testing::internal::GetCapturedStdout()};
    };
    const auto [good, good_output] = exit_code_and_output(0);
    EXPECT_EQ(good, measure::success);
    EXPECT_NE(good_output.find("\"validated\":true"), std::string::npos);
    const auto [bad, bad_output] = exit_code_and_output(1);
    EXPECT_EQ(bad, measure::validation_failed);
    EXPECT_NE(bad_output.find("\"validated\":false"), std::string::npos);
}

} // namespace
} // namespace kumiki::kernels::laplace
