#include "kernels/streams/lane.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/crews/one_memory/openmp_crew.hpp"
#include "kernels/streams/task.hpp"

namespace kumiki::kernels::streams {
namespace {

TEST(Lane, reads_and_updates_everything_in_every_pass) {
    // One line, numbers of lines that are no multiple of a piece, many pieces; only one of the two memories, and both.
    for (const Traffic& traffic : {Traffic{1, 0}, Traffic{0, 1}, Traffic{1000, 70000}, Traffic{1 << 20, 0},
                                   Traffic{0, 300001}, Traffic{200000, 3 << 20}})
        for (const std::size_t workers : {1u, 3u})
            for (std::size_t worker = 0; worker < workers; ++worker) {
                Lane lane(traffic, workers, worker);
                lane.fill();
                EXPECT_TRUE(lane.right());
                for (int pass = 0; pass < 5; ++pass) {
                    lane.pass();
                    EXPECT_TRUE(lane.right()) << traffic.read << ' ' << traffic.update << ' ' << worker;
                }
            }
}

Task task_of(Traffic traffic) {
    Task task;
    task.of = "laplace";
    task.parameters = {{"size", 640}, {"method", "jacobi"}};
    task.traffic = traffic;
    task.work = 2;
    task.unit = "Mcell/s";
    task.budget = {.samples = 3, .seconds = 0};
    return task;
}

template <class C>
std::string output_of(C crew, const Task& task) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(measure_on(crew, task), measure::success);
    return testing::internal::GetCapturedStdout();
}

TEST(MeasureOn, prints_the_row_of_the_program_that_is_bounded) {
    const std::string row = output_of(OpenMpCrew(2), task_of({1 << 16, 1 << 16}));
    for (const char* part : {"\"metric\":\"laplace.bound\"", "\"implementation\":\"bound\"", "\"unit\":\"Mcell/s\"",
                             "\"better\":\"higher\"", "\"form\":\"bound\"", "\"size\":640", "\"method\":\"jacobi\"",
                             "\"threads\":2", "\"validated\":true"})
        EXPECT_NE(row.find(part), std::string::npos) << part << " in " << row;
}

} // namespace
} // namespace kumiki::kernels::streams
