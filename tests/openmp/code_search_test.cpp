// What a search of a program's code for instructions keeps for the next start, and what a glance at an instruction
// tells. The code that is searched is that of this program.
#include "openmp/ranks/code/code_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sched.h>
#include <unistd.h>

#include "code_pieces.hpp"
#include "openmp/ranks/code/search_cache.hpp"

extern "C" std::byte __executable_start[], etext[], _end[]; // NOLINT: names of the linker

// With ThreadSanitizer compilers make calls of atomic accesses, so there are some here.
PIECE(atomic_instructions, "lock addl $1, (%rdi); lock xaddl %eax, (%rdi); mfence; 1: movl (%rdi), %eax;"
                           "testl %eax, %eax; je 1b");

namespace kumiki::openmp {
namespace {

namespace fs = std::filesystem;

std::span<std::byte> own_code() {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto* const here =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(atomic_instructions_begin) / page * page);
    constexpr std::size_t enough = std::size_t{1} << 18;
    return {here, std::min(enough, static_cast<std::size_t>(etext - here))};
}

TEST(GlanceTest, TellsTheSameAsTheWholeInstruction) {
    std::size_t instructions = 0, atomic = 0, backward = 0;
    auto code = own_code();
    while (!code.empty()) {
        const auto glance = glance_at(code);
        const auto decoded = decode(code);
        ASSERT_EQ(glance.has_value(), decoded.has_value());
        code = code.subspan(glance ? glance->bytes : 1);
        if (!glance) continue;
        ASSERT_EQ(glance->end(), decoded->end());
        ASSERT_EQ(glance->jump_target(), jump_target_of(*decoded));
        ASSERT_EQ(glance->target, target_of(*decoded));
        ASSERT_EQ(glance->is_conditional || glance->is_unconditional, is_jump(*decoded));
        ASSERT_TRUE(glance->may_be_atomic || !is_atomic(*decoded));
        ASSERT_TRUE(glance->leaves_the_function || !leaves_the_function(*decoded));
        ++instructions;
        atomic += is_atomic(*decoded) ? 1 : 0;
        backward += glance->jump_target() != nullptr && glance->jump_target() < glance->at ? 1 : 0;
    }
    EXPECT_GT(instructions, 10'000U);
    EXPECT_GT(atomic, 0U);
    EXPECT_GT(backward, 100U);
}

/// Its cache is in a folder of the test.
class CodeSearchTest : public testing::Test {
protected:
    CodeSearchTest() : folder_(fs::temp_directory_path() / ("kumiki-search-" + std::to_string(getpid()))) {
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
        image_.code = {own_code()};
        image_.segments = {{__executable_start, _end}};
    }
    ~CodeSearchTest() override {
        std::error_code error;
        fs::remove_all(folder_, error);
    }
    std::vector<fs::path> files() const {
        std::error_code error;
        std::vector<fs::path> found;
        for (const auto& each : fs::directory_iterator(folder_ / "kumiki" / "code", error))
            found.push_back(each.path());
        return found;
    }

    fs::path folder_;
    Image image_;
    const void* slot_ = dlsym(RTLD_DEFAULT, "sched_yield");
    const std::vector<WaitingCalls::Slot> slots_{{reinterpret_cast<std::uintptr_t>(&slot_), true}};
};

TEST_F(CodeSearchTest, ASearchIsKept) {
    const auto found = find_in(image_);
    ASSERT_GE(found.size(), 4U);
    EXPECT_EQ(files().size(), 1U);
    const auto kept = SearchCache(image_).read();
    ASSERT_TRUE(kept);
    EXPECT_TRUE(std::ranges::equal(*kept, found, {}, &Finding::at, &Finding::at));
    EXPECT_TRUE(std::ranges::equal(*kept, found, {}, &Finding::use, &Finding::use));
}

TEST_F(CodeSearchTest, WhatIsKeptIsNotSearchedAgain) {
    const auto found = find_in(image_);
    SearchCache(image_).keep(std::span(found).first(1), {});
    EXPECT_EQ(find_in(image_).size(), 1U);
}

TEST_F(CodeSearchTest, OtherFunctionsBehindItsCallsAreSearchedFor) {
    const auto found = find_in(image_);
    SearchCache(image_).keep(std::span(found).first(1), slots_);
    EXPECT_EQ(find_in(image_).size(), 1U);
    slot_ = nullptr;
    EXPECT_EQ(find_in(image_).size(), found.size());
}

TEST_F(CodeSearchTest, OtherCodeIsAnotherSearch) {
    const auto found = find_in(image_);
    SearchCache(image_).keep(std::span(found).first(1), {});
    std::vector<std::byte> code(image_.code.front().begin(), image_.code.front().end());
    image_.code = {code};
    EXPECT_FALSE(SearchCache(image_).read()); // it lies elsewhere
    SearchCache(image_).keep(found, {});
    code.back() ^= std::byte{1};
    EXPECT_FALSE(SearchCache(image_).read());
}

TEST_F(CodeSearchTest, AFileThatIsNotWholeIsNotBelieved) {
    const auto found = find_in(image_);
    const fs::path file = files().front();
    std::string contents{std::istreambuf_iterator<char>(std::ifstream(file, std::ios::binary).rdbuf()), {}};
    for (const std::size_t length : {std::size_t{0}, std::size_t{5}, contents.size() / 2, contents.size() - 1}) {
        fs::resize_file(file, length);
        EXPECT_FALSE(SearchCache(image_).read()) << length;
        std::ofstream(file, std::ios::binary) << contents;
    }
    EXPECT_TRUE(SearchCache(image_).read());
    contents[contents.size() / 2] ^= 1;
    std::ofstream(file, std::ios::binary) << contents;
    EXPECT_FALSE(SearchCache(image_).read());
    EXPECT_EQ(find_in(image_).size(), found.size());
    EXPECT_TRUE(SearchCache(image_).read());
}

TEST_F(CodeSearchTest, AnotherUsersFileIsNotBelieved) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    const auto found = find_in(image_);
    SearchCache(image_).keep(std::span(found).first(1), {});
    ASSERT_EQ(chown(files().front().c_str(), 12345, 12345), 0);
    EXPECT_EQ(find_in(image_).size(), found.size());
}

TEST_F(CodeSearchTest, AFolderThatCannotBeMadeIsNoFailure) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "kumiki") << "a file";
    EXPECT_FALSE(find_in(image_).empty());
    EXPECT_TRUE(files().empty());
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "relative", 1);
    EXPECT_FALSE(find_in(image_).empty());
    EXPECT_FALSE(fs::exists("relative"));
}

TEST_F(CodeSearchTest, AShortSearchIsNotKept) {
    image_.code.front() = image_.code.front().first(1000);
    find_in(image_);
    EXPECT_TRUE(files().empty());
}

TEST_F(CodeSearchTest, TheOldestAreForgotten) {
    const auto found = find_in(image_);
    const fs::path kept = files().front();
    for (int i = 0; i < 1200; ++i) {
        const fs::path other = kept.parent_path() / ("other" + std::to_string(i));
        std::ofstream(other) << i;
        fs::last_write_time(other, fs::file_time_type::clock::now() - std::chrono::hours(i + 1));
    }
    SearchCache(image_).keep(found, {});
    EXPECT_EQ(files().size(), 1000U);
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_TRUE(fs::exists(kept.parent_path() / "other900"));
    EXPECT_FALSE(fs::exists(kept.parent_path() / "other1100"));
}

} // namespace
} // namespace kumiki::openmp
