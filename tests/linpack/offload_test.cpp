// The factorisation with an emulated device that shares the updates.
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <optional>

#include "kernels/common/blas_library.hpp"
#include "linpack/run.hpp"
#include "linpack/shared_device.hpp"
#include "support/jobs.hpp"
#include "tests/accelerator/serving.hpp"

namespace kumiki::linpack {
namespace {

using accelerator::Serving;

struct Case {
    int ranks, threads;
    std::size_t size, block;
    Grid grid;
    double share;
};

/// Runs `body` as a job; the server is in the first rank's process, because the sanitizers do not bear threads of a
/// process that was forked by one with threads.
void run_with_device(const Case& of, const std::string& description,
                     const std::function<void(Job&, std::uint32_t address)>& body) {
    tests::run_programs({.ranks = of.ranks, .crowded = true, .threads = of.threads}, [&](int rank) {
        kernels::set_blas_threads(1);
        std::optional<Serving> serving; // ends when all ranks have left
        if (rank == 0) serving.emplace(description);
        Job job;
        std::uint32_t address = serving ? serving->address : 0;
        job.broadcast(std::span(&address, 1), 0);
        body(job, address);
    });
}

void expect_same_as_without(const Case& of, const std::string& description) {
    run_with_device(of, description, [&](Job& job, std::uint32_t address) {
        Parameters parameters{of.size, of.block, of.grid, {}, {}, 16, {}};
        const Outcome without = run(job, parameters);
        parameters.device = DeviceUse{address, of.share};
        const Outcome with = run(job, parameters);
        EXPECT_LT(with.residual->scaled, 16);
        EXPECT_EQ(with.pivots, without.pivots);
    });
}

TEST(Offload, GivesTheSameFactors) {
    expect_same_as_without({1, 1, 1300, 64, {1, 1, true}, 0.6}, "emulated:rate=1000");
    expect_same_as_without({1, 2, 1300, 100, {1, 1, true}, 1}, "emulated:rate=20");
}

TEST(Offload, GivesTheSameFactorsOverAGrid) {
    expect_same_as_without({2, 1, 1200, 64, {2, 1, true}, 0.7}, "emulated:rate=1000");
    expect_same_as_without({2, 1, 1300, 64, {1, 2, true}, 1}, "emulated:rate=1000,bus=1");
}

TEST(Offload, GivesTheSameFactorsWhereOnlySomeRanksUseIt) {
    for (const Grid grid : {Grid{1, 3, true}, Grid{3, 1, true}}) {
        const Case of{3, 1, 1500, 64, grid, 1};
        run_with_device(of, "emulated:rate=1000", [&](Job& job, std::uint32_t address) {
            Parameters parameters{of.size, of.block, of.grid, {}, {}, 16, {}};
            const Outcome without = run(job, parameters);
            parameters.device = DeviceUse{address, 1, job.rank() == 2, true};
            const Outcome with = run(job, parameters);
            EXPECT_LT(with.residual->scaled, 16);
            EXPECT_EQ(with.pivots, without.pivots);
        });
    }
}

/// The threads take what a slow device would delay: alone it would need 23 s.
TEST(Offload, LeavesASlowDeviceBehind) {
    const auto start = std::chrono::steady_clock::now();
    expect_same_as_without({1, 1, 700, 64, {1, 1, true}, 1}, "emulated:rate=0.01");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST(Offload, IsMeasuredAtTheRanksOfTheGridOnly) {
    const Case of{3, 1, 600, 64, {1, 2, true}, 1};
    run_with_device(of, "emulated:rate=1", [&](Job& job, std::uint32_t address) {
        const DeviceShare measured = measure_device(job, address, of.grid, of.size, of.block);
        ASSERT_EQ(measured.by_rank.size(), 3u);
        EXPECT_GT(measured.by_rank[0].together, 0);
        EXPECT_GT(measured.by_rank[1].together, 0);
        EXPECT_EQ(measured.by_rank[2].together, 0);
        const double both = measured.by_rank[0].together + measured.by_rank[1].together;
        EXPECT_NEAR(both, measured.share > 0 ? measured.together : measured.alone, 1e-9 * both);
    });
}

/// Early operations fail: on a busy machine the threads leave a device few of them.
TEST(Offload, PassesOnWhatTheDeviceSays) {
    const Case of{1, 1, 1300, 64, {1, 1, true}, 1};
    for (const int operation : {1, 3, 8})
        run_with_device(of, fmt::format("emulated:fails={}", operation), [&](Job& job, std::uint32_t address) {
            std::string said;
            try {
                run(job, {of.size, of.block, of.grid, {}, {}, 16, {}, DeviceUse{address, of.share}});
            } catch (const accelerator::DeviceError& error) {
                said = error.what();
            }
            EXPECT_NE(said.find("this operation fails"), std::string::npos)
                << "operation " << operation << ": " << said;
        });
}

} // namespace
} // namespace kumiki::linpack
