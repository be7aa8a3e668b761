#include "kernels/laplace/measure_form.hpp"

#include <gtest/gtest.h>

#include "kernels/laplace/sequential.hpp"

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

/// A form that computes well but forgets its last step when told to.
class Forgetful : public Sequential {
public:
    Forgetful(const Problem& problem, std::size_t forgotten) : Sequential(problem), forgotten_(forgotten) {}
    RunTimes run(std::size_t iterations) { return Sequential::run(iterations - forgotten_); }

private:
    std::size_t forgotten_;
};

TEST(MeasureForm, fails_when_the_grid_differs_from_the_sequential_one) {
    Options options;
    options.problem = {20, 10};
    options.budget.samples = 3;
    options.budget.seconds = 0;
    const auto exit_code_and_output = [&](std::size_t forgotten) {
        Forgetful form(options.problem, forgotten);
        testing::internal::CaptureStdout();
        const int code = measure_form(form, options);
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
