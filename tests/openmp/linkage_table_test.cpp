#include "openmp/ranks/code/linkage_table.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <sys/mman.h>

namespace kumiki::openmp {
namespace {

using Entry = std::array<unsigned char, LinkageEntry::bytes>;

/// As linkers make them, with a variable 16 bytes before the next instruction.
constexpr Entry plain{0xff, 0x25, 0xf0, 0xff, 0xff, 0xff, 0x68, 1, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff};
constexpr Entry marked{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf0, 0xff, 0xff, 0xff, 0x66, 0x0f, 0x1f, 0x44, 0, 0};
constexpr Entry bounded{0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf0, 0xff, 0xff, 0xff, 0x0f, 0x1f, 0x44, 0, 0};
/// What binds a function at its first call; and a function of the program that jumps through a variable.
constexpr Entry binding{0xff, 0x35, 0xca, 0x2f, 0, 0, 0xff, 0x25, 0xcc, 0x2f, 0, 0, 0x0f, 0x1f, 0x40, 0};
constexpr Entry own{0xff, 0x25, 0xf0, 0xff, 0xff, 0xff, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};

struct alignas(LinkageEntry::bytes) Table {
    std::array<Entry, 5> entries;

    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(entries)); }
};

TEST(LinkageTableTest, EntriesAreFoundWithTheirVariables) {
    Table code{{binding, plain, marked, own, bounded}};
    const auto found = linkage_entries(code.bytes());
    ASSERT_EQ(found.size(), 3u);
    std::byte* const begin = code.bytes().data();
    EXPECT_EQ(found[0].at, begin + 16);
    EXPECT_EQ(found[0].slot, begin + 16 + 6 - 0x10);
    EXPECT_EQ(found[1].at, begin + 32);
    EXPECT_EQ(found[1].slot, begin + 32 + 10 - 0x10);
    EXPECT_EQ(found[2].at, begin + 64);
    EXPECT_EQ(found[2].slot, begin + 64 + 11 - 0x10);
}

TEST(LinkageTableTest, OnlyWholeEntriesAtTheirPlaceCount) {
    Table code{{plain, plain, plain, plain, plain}};
    EXPECT_EQ(linkage_entries(code.bytes().first(31)).size(), 1u);
    EXPECT_EQ(linkage_entries(code.bytes().subspan(1)).size(), 4u);
    EXPECT_TRUE(linkage_entries({}).empty());
}

int answer() { return 42; }

TEST(LinkageTableTest, AnEntryBecomesAJump) {
    void* const memory =
        mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* const code = static_cast<Table*>(memory);
    code->entries = {plain, plain, plain, plain, plain};
    LinkageEntry{code->bytes().data() + 16, nullptr}.jump_to(reinterpret_cast<const void*>(&answer));
    EXPECT_EQ(code->entries[0], plain);
    EXPECT_EQ(code->entries[2], plain);
    EXPECT_EQ(reinterpret_cast<int (*)()>(code->bytes().data() + 16)(), 42);
    munmap(memory, sizeof(Table));
}

} // namespace
} // namespace kumiki::openmp
