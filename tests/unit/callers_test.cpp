// Which instruction of the program has called a library's function that faults.
#include "explain/callers.hpp"

#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string_view>
#include <sys/mman.h>
#include <vector>

#include "platform/fault_signals.hpp"
#include "platform/faulting_instruction.hpp"
#include "platform/memory.hpp"

// callers_code.cpp
extern "C" const volatile void* address_of_variable();
extern "C" std::size_t sum_of(const void* memory, std::size_t bytes, std::size_t (*add)(std::size_t, char));

namespace kumiki::explain {
namespace {

/// Two pages that are absent until an access faults: one of data, and the one with a variable that the unwinder reads.
class CallersTest : public testing::Test, public platform::FaultHandler {
protected:
    CallersTest() {
        find_libraries();
        std::memset(data_, 1, bytes_);
        for (std::byte* const page : {data_, of_unwinder_})
            ranges_.push_back(*platform::FaultRange::claim(page, bytes_, *this, platform::FaultRange::Purpose::repair));
    }
    ~CallersTest() override { munmap(data_, bytes_); }

    bool fault(std::byte* address, platform::Attempt) override {
        std::byte* const page = address >= data_ && address < data_ + bytes_ ? data_ : of_unwinder_;
        const void* const code = platform::faulting_instruction();
        if (looks_first_) note(page, code);
        mprotect(page, bytes_, PROT_READ | PROT_WRITE);
        if (!looks_first_) note(page, code);
        return true;
    }
    std::size_t accessible(const std::byte*) const override { return 0; }

    void check() {
        mprotect(data_, bytes_, PROT_NONE);
        mprotect(of_unwinder_, bytes_, PROT_NONE);
        const auto add = [](std::size_t sum, char each) { return sum + static_cast<unsigned char>(each); };
        EXPECT_EQ(sum_of(data_, bytes_, add), bytes_);
        EXPECT_EQ(faults_of_unwinder_, 1);
        Dl_info found{};
        ASSERT_NE(dladdr(found_, &found), 0);
        ASSERT_NE(found.dli_sname, nullptr);
        EXPECT_STREQ(found.dli_sname, "sum_of");
    }

    bool looks_first_ = false;

private:
    void note(const std::byte* page, const void* code) {
        if (page == data_) found_ = in_program(code);
        else ++faults_of_unwinder_;
    }

    const std::size_t bytes_ = platform::page_size();
    std::byte* const data_ =
        static_cast<std::byte*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::byte* const of_unwinder_ = [this] {
        const auto address = reinterpret_cast<std::uintptr_t>(address_of_variable());
        return reinterpret_cast<std::byte*>(address - address % bytes_);
    }();
    std::vector<platform::FaultRange> ranges_;
    const void* found_ = nullptr;
    int faults_of_unwinder_ = 0;
};

TEST_F(CallersTest, TheUnwinderMayFault) { check(); }

TEST_F(CallersTest, TheUnwinderMayFaultBeforeThePageIsThere) {
    looks_first_ = true;
    check();
}

} // namespace
} // namespace kumiki::explain
