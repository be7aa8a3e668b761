#include "kernels/himeno/reference.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/himeno/task.hpp"

namespace kumiki::kernels::himeno {
namespace {

TEST(CheckedSweeps, are_all_unless_the_grid_is_large) {
    EXPECT_EQ(checked_sweeps(problems[0], 100), 100u);
    EXPECT_EQ(checked_sweeps(problems[2], 20), 20u);
    EXPECT_LT(checked_sweeps(problems[3], 20), 5u);
    EXPECT_EQ(checked_sweeps(problems[3], 1), 1u);
}

TEST(ComputeReference, finds_the_first_gosa_that_theory_says) {
    for (const std::size_t size : {0u, 1u}) EXPECT_TRUE(compute_reference(problems[size], 3).plausible) << size;
}

TEST(Agrees, with_the_same_pressures_and_nearly_the_same_gosa_only) {
    const Reference reference{{2e-3, 77}, true};
    EXPECT_TRUE(agrees({2e-3 * (1 + 1e-7), 77}, reference));
    EXPECT_FALSE(agrees({2e-3 * (1 + 1e-5), 77}, reference));
    EXPECT_FALSE(agrees({2e-3, 78}, reference));
    EXPECT_FALSE(agrees({std::numeric_limits<double>::quiet_NaN(), 77}, reference));
}

/// A single worker whose sums are wrong.
class Miscounting : public SequentialCrew {
public:
    struct Worker : SequentialCrew::Worker {
        using SequentialCrew::Worker::Worker;
        template <class T>
        static T sum(T value) {
            return value + value;
        }
    };
    template <class Body>
    RunTimes run(Body body) {
        Worker worker;
        return timed(worker, body);
    }
};

template <class C>
std::pair<int, std::string> exit_code_and_output(C crew) {
    Task task;
    task.problem = problems.front();
    task.sweeps = 2;
    task.budget = {.samples = 3, .seconds = 0};
    testing::internal::CaptureStdout();
    const int code = measure_on(crew, task);
    return {code, testing::internal::GetCapturedStdout()};
}

TEST(MeasureOn, fails_when_the_result_differs_from_the_sequential_one) {
    const auto [good, good_output] = exit_code_and_output(SequentialCrew());
    EXPECT_EQ(good, measure::success);
    EXPECT_NE(good_output.find("\"validated\":true"), std::string::npos);
    const auto [bad, bad_output] = exit_code_and_output(Miscounting());
    EXPECT_EQ(bad, measure::validation_failed);
    EXPECT_NE(bad_output.find("\"validated\":false"), std::string::npos);
}

} // namespace
} // namespace kumiki::kernels::himeno
