#include "topology/memory.hpp"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace kumiki::topology {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// A file system that reports the memory that a test writes.
class Memory : public testing::Test {
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
    void total(std::uint64_t bytes) {
        write("proc/meminfo", fmt::format("MemTotal:  {} kB\nMemFree: 1 kB", bytes / 1024));
    }
    /// Blocks of a GiB.
    void blocks(int node, int first, int count) {
        write("sys/devices/system/memory/block_size_bytes", "40000000");
        write(fmt::format("sys/devices/system/node/node{}/meminfo", node), "");
        for (int block = first; block < first + count; ++block)
            write(fmt::format("sys/devices/system/node/node{}/memory{}/state", node, block), "online");
    }
    std::vector<std::uint64_t> counted(std::vector<MemoryNode> nodes) const {
        count_unprepared(nodes, root_);
        std::vector<std::uint64_t> bytes;
        for (const MemoryNode& node : nodes) bytes.push_back(node.bytes);
        return bytes;
    }
    fs::path root_;
};

using Bytes = std::vector<std::uint64_t>;

TEST_F(Memory, OfOneNodeIsTheTotal) {
    total(23 * gib);
    blocks(0, 0, 24);
    EXPECT_EQ(counted({{0, 8 * gib, {0, 1}}}), Bytes{23 * gib});
}

TEST_F(Memory, OfPreparedNodesIsWhatTheySay) {
    total(14 * gib);
    blocks(0, 0, 8);
    blocks(1, 8, 8);
    EXPECT_EQ(counted({{0, 6 * gib, {0}}, {1, 8 * gib, {1}}}), (Bytes{6 * gib, 8 * gib}));
}

TEST_F(Memory, ThatIsNotPreparedIsSharedOutByBlocks) {
    total(12 * gib);
    blocks(0, 0, 4);
    blocks(1, 4, 8);
    EXPECT_EQ(counted({{0, 4 * gib, {0}}, {1, 2 * gib, {1}}}), (Bytes{4 * gib, 8 * gib}));
    EXPECT_EQ(counted({{0, 1 * gib, {0}}, {1, 2 * gib, {1}}}), (Bytes{4 * gib, 8 * gib}));
}

TEST_F(Memory, IsAsHwlocSaysWhereTheSystemTellsNothing) { EXPECT_EQ(counted({{0, 8 * gib, {0}}}), Bytes{8 * gib}); }

} // namespace
} // namespace kumiki::topology
