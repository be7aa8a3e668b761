#include "kernels/cg/solver.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kernels/cg/task.hpp"
#include "kernels/crews/one_memory/shared_vector.hpp"

namespace kumiki::kernels::cg {
namespace {

constexpr Problem small = problems[0];

TEST(Solver, ends_with_the_published_zeta_and_a_small_residual) {
    SequentialCrew crew;
    Solver solver(crew, small);
    EXPECT_FALSE(solver.verified()) << "before any run";
    for (int run = 0; run < 2; ++run) { // the second run starts anew
        solver.run();
        EXPECT_TRUE(solver.verified());
        EXPECT_LT(solver.last_residual(), 1e-11);
    }
}

TEST(Solver, ends_with_it_with_any_number_of_workers) {
    for (const int workers : {2, 3, 8}) {
        OpenMpCrew crew(workers);
        Solver solver(crew, small);
        solver.run();
        EXPECT_TRUE(solver.verified()) << workers;
    }
}

TEST(Solver, does_not_end_with_it_after_too_few_iterations) {
    Problem shortened = small;
    shortened.iterations = 5;
    SequentialCrew crew;
    Solver solver(crew, shortened);
    solver.run();
    EXPECT_FALSE(solver.verified());
}

TEST(MeasureOn, fails_when_the_zeta_is_not_the_published_one) {
    SequentialCrew crew;
    Task task;
    task.budget = {.samples = 3, .seconds = 0};
    task.problem.published_zeta += 1e-6;
    testing::internal::CaptureStdout();
    EXPECT_EQ(measure_on(crew, task), measure::validation_failed);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("\"validated\":false"), std::string::npos);
}

/// A single worker for which exchanges and the sums of steps take time.
class SlowCrew : public SequentialCrew {
public:
    struct Worker : SequentialCrew::Worker {
        using SequentialCrew::Worker::sum;
        static void sum(std::span<double> values) {
            if (values.size() == 4) std::this_thread::sleep_for(std::chrono::microseconds(60));
        }
    };
    struct SharedVector : SequentialCrew::SharedVector {
        using SequentialCrew::SharedVector::SharedVector;
        static void start(Worker&) { std::this_thread::sleep_for(std::chrono::microseconds(20)); }
    };
    template <class Body>
    RunTimes run(Body body) {
        Worker worker;
        return timed(worker, body);
    }
};

TEST(Solver, tells_product_vectors_exchange_and_sums_apart) {
    SlowCrew crew;
    Solver solver(crew, small);
    const RunTimes times = solver.run();
    const auto seconds = [&](Step step) { return times.of_own(static_cast<std::size_t>(step)); };
    EXPECT_GE(seconds(Step::exchange), small.products() * 20e-6);
    EXPECT_GE(seconds(Step::sums), small.iterations * Problem::inner_iterations * 60e-6);
    EXPECT_GT(seconds(Step::product), 0);
    EXPECT_GT(seconds(Step::vectors), 0);
    const double all = seconds(Step::product) + seconds(Step::vectors) + seconds(Step::exchange) + seconds(Step::sums);
    EXPECT_LE(all, times.total());
    EXPECT_GE(all, 0.9 * times.total());
}

} // namespace
} // namespace kumiki::kernels::cg
