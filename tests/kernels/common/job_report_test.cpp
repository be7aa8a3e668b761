#include "kernels/common/job_report.hpp"

#include <gtest/gtest.h>

namespace kumiki::kernels {
namespace {

RunTimes times(double total, double computation, double communication, double synchronisation) {
    RunTimes made;
    made.figures = {total, computation, communication, synchronisation};
    return made;
}

TEST(SampleRuns, leaves_the_warm_up_out_and_keeps_the_order) {
    measure::Budget budget;
    budget.samples = 5;
    budget.seconds = 60;
    int number = 0;
    const auto runs = sample_runs(budget, [&] { return times(number++, 0, 0, 0); });
    ASSERT_EQ(runs.size(), 5u);
    for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].total(), static_cast<double>(i + 1));
}

TEST(SampleRuns, stops_when_rank_0_says_so) {
    measure::Budget budget;
    budget.samples = 1000;
    int asked = 0;
    const auto runs = sample_runs(budget, [] { return times(1, 0, 0, 0); }, [&](bool) { return ++asked <= 7; });
    EXPECT_EQ(runs.size(), 7u);
}

TEST(SampleRuns, goes_on_until_the_parts_are_known_to_one_hundredth_of_the_whole) {
    const auto sampled = [](double swing) {
        int number = 0;
        return sample_runs({.samples = 40, .seconds = 60}, [&] { return times(1, 0.9, ++number % 2 * swing, 0); });
    };
    EXPECT_EQ(sampled(0.015).size(), 6u);
    EXPECT_EQ(sampled(0.03).size(), 40u);
}

TEST(Rows, hold_time_rate_and_parts_of_every_run) {
    JobReport report = report_of("laplace", {"openmpi", "mpi", 2, 1, true});
    report.parameters["size"] = std::int64_t{640};
    report.work = 12;
    report.rate_unit = "Mcell/s";
    report.validated = true;
    const std::vector<RunTimes> runs{times(4, 2, 1, 0.5), times(6, 3, 2, 0.25)};
    const auto made = rows(report, runs);

    ASSERT_EQ(made.size(), 5u);
    const std::vector<std::pair<std::string, std::vector<double>>> expected{{"laplace.time", {4, 6}},
                                                                            {"laplace.rate", {3, 2}},
                                                                            {"laplace.computation", {2, 3}},
                                                                            {"laplace.communication", {1, 2}},
                                                                            {"laplace.synchronisation", {0.5, 0.25}}};
    for (std::size_t i = 0; i < made.size(); ++i) {
        const measure::Row& row = made[i];
        EXPECT_EQ(row.metric, expected[i].first);
        EXPECT_EQ(row.samples, expected[i].second);
        EXPECT_EQ(row.implementation, "openmpi");
        EXPECT_EQ(row.parameters, report.parameters);
        EXPECT_EQ(row.unit, row.metric == "laplace.rate" ? "Mcell/s" : "s");
        EXPECT_EQ(row.better, row.metric == "laplace.rate" ? measure::Better::higher : measure::Better::lower);
        EXPECT_EQ(row.validated, true);
        EXPECT_TRUE(row.oversubscribed);
    }
    EXPECT_EQ(std::get<std::string>(made[0].parameters.at("form")), "mpi");
    EXPECT_EQ(std::get<std::int64_t>(made[0].parameters.at("ranks")), 2);
}

TEST(Rows, hold_the_parts_that_a_program_tells_apart_itself) {
    enum class Part { first, second };
    Stopwatch<Part, 2> own;
    own.enter(Part::second);
    const auto start = measure::Clock::now();
    while (measure::seconds_since(start) < 2e-3) {}
    own.stop();
    JobReport report = report_of("cg", {"kumiki", "hybrid", 2, 1, false});
    report.own_parts = {"product", "exchange"};
    const std::vector<RunTimes> runs{RunTimes(1, Phases{}, own)};
    const auto made = rows(report, runs);

    ASSERT_EQ(made.size(), 7u);
    EXPECT_EQ(made[5].metric, "cg.product");
    EXPECT_EQ(made[5].samples, std::vector<double>{0});
    EXPECT_EQ(made[6].metric, "cg.exchange");
    EXPECT_EQ(made[6].samples, std::vector<double>{own.seconds(Part::second)});
    EXPECT_GE(made[6].samples[0], 2e-3);
}

TEST(Rows, say_how_many_threads_compute_where_not_all_do) {
    const auto of = [](int working) {
        return rows(report_of("laplace", {"kumiki", "hybrid", 2, 4, true, working}), std::vector{times(4, 2, 1, 0.5)});
    };
    for (const measure::Row& row : of(1)) {
        EXPECT_EQ(std::get<std::int64_t>(row.parameters.at("working")), 1);
        EXPECT_EQ(row.note, "more threads than cores: each rank computes with 1 of its 4 threads");
    }
    for (const measure::Row& row : of(4)) {
        EXPECT_FALSE(row.parameters.contains("working"));
        EXPECT_EQ(row.note, "");
    }
}

TEST(ExceedsCores, begins_one_above_the_cores_of_the_host) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    EXPECT_FALSE(exceeds_cores(cores));
    EXPECT_TRUE(exceeds_cores(cores + 1));
}

} // namespace
} // namespace kumiki::kernels
