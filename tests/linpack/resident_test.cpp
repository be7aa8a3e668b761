// The factorisation with the matrix on a device of each rank.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "accelerator/open.hpp"
#include "kernels/common/blas_library.hpp"
#include "linpack/run.hpp"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"

namespace kumiki::linpack {
namespace {

struct Case {
    int ranks, threads;
    Parameters parameters;
    std::chrono::seconds patience{60};
};

Parameters usual(std::size_t size, std::size_t block, int rows, int columns) {
    return {size, block, {rows, columns, true}, {}, {}, 16, {}};
}

/// The same pivots and, to rounding, the same solution as without a device.
void expect_same_as_without(const Case& of, const std::string& description) {
    const Parameters& p = of.parameters;
    SCOPED_TRACE(fmt::format("N {} B {} grid {} x {} of {} ranks x {} threads, weights {}, look-ahead {}, {}", p.size,
                             p.block, p.grid.rows, p.grid.columns, of.ranks, of.threads, p.weights,
                             static_cast<int>(p.look_ahead), description));
    tests::Processes processes;
    tests::start_programs(processes, {.ranks = of.ranks, .crowded = true, .threads = of.threads}, [&](int rank) {
        kernels::set_blas_threads(1);
        Job job;
        Parameters parameters = of.parameters;
        const Outcome without = run(job, parameters);
        const std::unique_ptr<accelerator::Device> device = accelerator::open_device(description);
        parameters.device = DeviceUse{.own = device.get()};
        const Outcome with = run(job, parameters);
        if (!description.starts_with("emulated")) {
            EXPECT_EQ(device->remark(), "");
        }
        if (rank >= parameters.grid.size()) return;
        EXPECT_LT(with.residual->scaled, 16);
        EXPECT_EQ(with.pivots, without.pivots);
        EXPECT_EQ(with.products, 0u) << "the threads of the rank made products themselves";
        ASSERT_EQ(with.solution.size(), without.solution.size());
        for (std::size_t i = 0; i < with.solution.size(); ++i)
            ASSERT_NEAR(with.solution[i], without.solution[i], 1e-7 * with.residual->solution_infinity) << i;
    });
    tests::expect_good_ends(processes, of.patience);
}

TEST(Resident, GivesTheSameFactors) {
    const std::string device = "emulated:rate=1000";
    for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 100u})
        expect_same_as_without({1, 1, usual(size, 8, 1, 1)}, device);
    expect_same_as_without({1, 1, usual(1300, 64, 1, 1)}, device);
    expect_same_as_without({1, 2, usual(1300, 100, 1, 1)}, "emulated:rate=1000,bus=2");
}

/// A slab of the matrix has 1024 columns or more, so that a small matrix would have one only.
TEST(Resident, GivesTheSameFactorsInManySlabs) {
    // One allocation of the device is 1/1000 GiB, or 134217 elements: 128 columns of 1000 rows.
    expect_same_as_without({1, 1, usual(1000, 32, 1, 1)}, "emulated:rate=1000,once=0.001");
    expect_same_as_without({1, 3, usual(1000, 48, 1, 1)}, "emulated:rate=1000,once=0.001");
    expect_same_as_without({2, 2, usual(1000, 32, 2, 1)}, "emulated:rate=1000,once=0.0005");
    expect_same_as_without({2, 1, usual(1000, 32, 1, 2)}, "emulated:rate=1000,once=0.0005,bus=0.5");
}

TEST(Resident, GivesTheSameFactorsWithRanksThatHaveNothing) {
    const std::string device = "emulated:rate=1000";
    expect_same_as_without({4, 1, usual(20, 8, 1, 4)}, device);
    expect_same_as_without({4, 1, usual(20, 8, 4, 1)}, device);
    expect_same_as_without({5, 1, usual(40, 8, 2, 2)}, device);
}

class RandomResident : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomResident, GivesTheSameFactors) {
    tests::Random random(GetParam() + 5000);
    Parameters parameters = usual(random.between<std::size_t>(1, 300), random.between<std::size_t>(1, 40),
                                  random.between(1, 3), random.between(1, 3));
    parameters.grid.by_rows = random.once_in(2);
    if (random.once_in(2)) {
        for (int column = 0; column < parameters.grid.columns; ++column)
            parameters.weights.push_back(random.between(0, 3));
        parameters.weights.back() = 1;
    }
    parameters.look_ahead = static_cast<LookAhead>(random.between(0, 3));
    const auto ranks = static_cast<int>(parameters.grid.size());
    const std::string bus = random.once_in(2) ? ",bus=0.2" : "";
    expect_same_as_without({ranks, random.between(1, 2), parameters}, "emulated:rate=1000,once=0.0003" + bus);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomResident, testing::Range<std::uint64_t>(0, 16));

/// Whether another process can open the device: drivers do not bear it that a process forks after them.
bool can_open(const std::string& description) {
    const pid_t child = fork();
    if (child == 0) {
        try {
            accelerator::open_device(description);
        } catch (const accelerator::DeviceError&) {
            _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Resident, RunsOnOpencl) {
    if (tests::sanitized) GTEST_SKIP() << "drivers of OpenCL are not built with sanitizers";
    if (!can_open("opencl")) GTEST_SKIP() << "OpenCL has no device here";
    // PoCL compiles the kernels at first use, which takes ten seconds on a machine that has nothing else to do.
    constexpr std::chrono::seconds patience{200};
    expect_same_as_without({1, 1, usual(300, 32, 1, 1), patience}, "opencl");
    expect_same_as_without({2, 1, usual(300, 32, 2, 1), patience}, "opencl");
}

/// Its streams are threads, so that what nobody waited for is not there yet (tests/accelerator/stand_in.cpp).
TEST(Resident, RunsOnTheTableOfAVendor) {
    const char* const vendor = std::getenv("TEST_STAND_IN");
    if (vendor == nullptr) GTEST_SKIP() << "no library stands in for that of a vendor";
    expect_same_as_without({1, 1, usual(150, 16, 1, 1)}, vendor);
    expect_same_as_without({1, 2, usual(150, 20, 1, 1)}, vendor);
    expect_same_as_without({2, 1, usual(150, 16, 2, 1)}, vendor);
    expect_same_as_without({4, 1, usual(150, 16, 2, 2)}, vendor);
    // One process row: panels are factored on the device, where it has a solver.
    expect_same_as_without({2, 1, usual(150, 16, 1, 2)}, vendor);
    expect_same_as_without({3, 2, usual(170, 20, 1, 3)}, vendor);
    for (const LookAhead look_ahead : {LookAhead::none, LookAhead::chopped, LookAhead::thread}) {
        Parameters parameters = usual(150, 16, 1, 2);
        parameters.look_ahead = look_ahead;
        expect_same_as_without({2, 2, parameters}, vendor);
    }
    for (const std::size_t size : {1u, 7u, 8u, 9u}) expect_same_as_without({1, 1, usual(size, 8, 1, 1)}, vendor);
}

TEST(Resident, PassesOnWhatTheDeviceSays) {
    tests::run_programs({.ranks = 1, .crowded = true}, [&](int) {
        kernels::set_blas_threads(1);
        Job job;
        // The first operation is the matrix on its way to the device.
        for (const int operation : {1, 2, 5, 10, 30}) {
            const auto device = accelerator::open_device(fmt::format("emulated:fails={}", operation));
            Parameters parameters = usual(400, 32, 1, 1);
            parameters.device = DeviceUse{.own = device.get()};
            std::string said;
            try {
                run(job, parameters);
            } catch (const accelerator::DeviceError& error) {
                said = error.what();
            }
            EXPECT_NE(said.find("this operation fails"), std::string::npos) << operation << ": " << said;
        }
    });
}

} // namespace
} // namespace kumiki::linpack
