#include "topology/quota.hpp"

#include <fstream>
#include <gtest/gtest.h>

#include "platform/memory.hpp"
#include "topology/ranges.hpp"

namespace kumiki::topology {
namespace {

namespace fs = std::filesystem;

/// A file system with files of control groups, which a test writes.
class ControlGroups : public testing::Test {
protected:
    void SetUp() override {
        root_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::remove_all(root_);
    }
    void TearDown() override { fs::remove_all(root_); }
    void write(const fs::path& path, const std::string& text) {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << '\n';
    }
    fs::path root_;
};

TEST_F(ControlGroups, QuotaIsAbsentWithoutALimit) {
    EXPECT_FALSE(processor_quota(root_));
    write("proc/self/cgroup", "0::/user/job");
    write("sys/fs/cgroup/user/job/cpu.max", "max 100000");
    EXPECT_FALSE(processor_quota(root_));
}

TEST_F(ControlGroups, QuotaOfVersion2IsTheStrictestOfAllLevels) {
    write("proc/self/cgroup", "0::/user/job");
    write("sys/fs/cgroup/user/job/cpu.max", "400000 100000");
    EXPECT_EQ(processor_quota(root_), 4.0);
    write("sys/fs/cgroup/user/cpu.max", "150000 100000");
    EXPECT_EQ(processor_quota(root_), 1.5);
    write("sys/fs/cgroup/cpu.max", "300000 100000");
    EXPECT_EQ(processor_quota(root_), 1.5);
}

TEST_F(ControlGroups, QuotaInsideAContainerStandsAtTheMountPoint) {
    write("proc/self/cgroup", "0::/");
    write("sys/fs/cgroup/cpu.max", "50000 100000");
    EXPECT_EQ(processor_quota(root_), 0.5);
}

TEST_F(ControlGroups, QuotaOfVersion1) {
    write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/job\n3:cpuset:/s");
    write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
    write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    EXPECT_FALSE(processor_quota(root_));
    write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000");
    EXPECT_EQ(processor_quota(root_), 2.5);
}

TEST_F(ControlGroups, MemoryIsTheHostsWithoutALimit) {
    write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 1000 kB");
    EXPECT_EQ(platform::available_memory(root_), 1000U * 1024);
    write("proc/self/cgroup", "0::/user/job");
    write("sys/fs/cgroup/user/job/memory.max", "max");
    write("sys/fs/cgroup/user/job/memory.current", "4096");
    EXPECT_EQ(platform::available_memory(root_), 1000U * 1024);
}

TEST_F(ControlGroups, MemoryIsWhatTheOwnGroupLeaves) {
    write("proc/meminfo", "MemAvailable: 1000 kB");
    write("proc/self/cgroup", "0::/user/job");
    write("sys/fs/cgroup/user/job/memory.max", "500000");
    write("sys/fs/cgroup/user/job/memory.current", "100000");
    EXPECT_EQ(platform::available_memory(root_), 400000U);
    write("sys/fs/cgroup/user/memory.max", "600000");
    write("sys/fs/cgroup/user/memory.current", "590000");
    EXPECT_EQ(platform::available_memory(root_), 10000U);
    write("sys/fs/cgroup/user/memory.current", "700000");
    EXPECT_EQ(platform::available_memory(root_), 0U);
}

TEST_F(ControlGroups, MemoryOfVersion1) {
    write("proc/meminfo", "MemAvailable: 1000 kB");
    write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/job");
    write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "300000");
    write("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "100000");
    EXPECT_EQ(platform::available_memory(root_), 200000U);
}

TEST(Ranges, AreWrittenAsPeopleDo) {
    EXPECT_EQ(as_ranges({}), "none");
    EXPECT_EQ(as_ranges({3}), "3");
    EXPECT_EQ(as_ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(Sizes, HaveTheLargestUnitThatFits) {
    EXPECT_EQ(as_size(512), "512 B");
    EXPECT_EQ(as_size(48 << 10), "48 KiB");
    EXPECT_EQ(as_size(6000160768ULL), "5.6 GiB");
}

} // namespace
} // namespace kumiki::topology
