#include "kernels/is/sorter.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/key_exchange.hpp"
#include "kernels/is/task.hpp"

namespace kumiki::kernels::is {
namespace {

TEST(Sorter, verifies_again_and_again) {
    SequentialCrew crew;
    Sorter sorter(crew, problems[0]);
    EXPECT_FALSE(sorter.verified()) << "before any run";
    for (int run = 0; run < 3; ++run) {
        sorter.run();
        EXPECT_TRUE(sorter.verified()) << run;
        EXPECT_TRUE(sorter.fully_verified()) << run;
    }
}

TEST(Sorter, verifies_with_any_number_of_workers) {
    for (const int workers : {1, 2, 5, 16}) {
        OpenMpCrew crew(workers);
        Sorter sorter(crew, problems[0]);
        sorter.run();
        EXPECT_TRUE(sorter.verified() && sorter.fully_verified()) << workers;
    }
}

TEST(MeasureOn, fails_when_a_rank_is_not_the_published_one) {
    SequentialCrew crew;
    Task task;
    task.budget = {.samples = 3, .seconds = 0};
    ++task.problem.test_keys[2].rank;
    testing::internal::CaptureStdout();
    EXPECT_EQ(measure_on(crew, task), measure::validation_failed);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("\"validated\":false"), std::string::npos);
}

} // namespace
} // namespace kumiki::kernels::is
