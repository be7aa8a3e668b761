// Which pieces of a program's code are taken for loops that wait for a variable. The code is never executed.
#include "openmp/ranks/spin_loops.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <vector>

extern "C" {
void* slot_of_yield = nullptr; ///< as the linker's, through which a program calls sched_yield
}

namespace kumiki::openmp {
namespace {

// Each piece begins and ends with a name, and an instruction that does not belong to it stands behind it.
#define PIECE(NAME, CODE)                                                                                              \
    asm(".pushsection .text\n" #NAME "_begin:\n" CODE "\n" #NAME "_end: ret\n.popsection");                            \
    extern "C" std::byte NAME##_begin[], NAME##_end[]

PIECE(waits, "1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
PIECE(waits_with_pause, "jmp 2f; 1: pause; 2: movl (%rdi), %eax; testl %eax, %eax; je 1b");
PIECE(waits_with_exit, "1: movl (%rdi), %eax; testl %eax, %eax; jne 2f; pause; jmp 1b; 2: nop");
PIECE(waits_with_fence, "1: movl (%rdi), %eax; lock orq $0, (%rsp); testl %eax, %eax; je 1b");
PIECE(waits_and_yields, "jmp 2f; 1: call *slot_of_yield(%rip); 2: movl (%rbx), %eax; cmpl %ebp, %eax; jne 1b");
// What clang 14 makes of a loop with a flush: the call may have changed the register, which gets its address again.
PIECE(waits_and_loads_address, "1: movl (%rdx,%rbx,4), %eax; testl %eax, %eax; jne 2f; call *slot_of_yield(%rip);"
                               "leaq slot_of_yield(%rip), %rdx; jmp 1b; 2: nop");
// And clang 19, which looks at the variable in the next pass.
PIECE(waits_and_looks_later,
      "1: testl %ebx, %ebx; jle 2f; movl (%r15), %ebx; call *slot_of_yield(%rip); testl %eax, %eax;"
      "je 1b; 2: nop");
PIECE(follows_a_list, "1: testq %rbx, %rbx; je 2f; movq (%rbx), %rbx; jmp 1b; 2: nop");
PIECE(copies_on, "1: testl %ebx, %ebx; jle 2f; movl %ecx, %ebx; movl (%r15), %ecx; jmp 1b; 2: nop");
PIECE(loads_next_address, "1: movl (%rdx), %eax; testl %eax, %eax; jne 2f; leaq 8(%rdx), %rdx; jmp 1b; 2: nop");
PIECE(waits_for_either, "1: movl (%rdi), %eax; testl %eax, %eax; jne 2f; movl (%rsi), %eax; testl %eax, %eax; je 1b;"
                        "2: nop");
PIECE(waits_for_both, "1: movl (%rdi), %eax; testl %eax, %eax; je 1b; movl (%rsi), %eax; testl %eax, %eax; je 1b");
PIECE(waits_for_one_of_two_values, "1: movl (%rdi), %eax; cmpl %eax, %esi; jle 2f; cmpl $-1, %eax; jne 1b; 2: nop");
PIECE(counts, "1: movl (%rdi), %eax; addl $1, %ecx; testl %eax, %eax; je 1b");
PIECE(calls, "1: call *%rsi; movl (%rdi), %eax; testl %eax, %eax; je 1b");
// What GCC 12 made of a row of NPB MG's residual: the last comparison jumps to a piece of code that goes on elsewhere.
PIECE(jumps_back, "1: movl $1, %eax; movl 16(%rsp), %ecx; jmp 3f; 2: cmpl $4, 8(%rsp); je 1b; 3: nop");
PIECE(jumps_back_to_return, "1: movl $1, %eax; ret; 2: cmpl $4, 8(%rsp); je 1b");

// What clang 14 made of a row of LU: the address is loaded between the look before the loop and the loop.
PIECE(looks_before, "cmpl $0, -4(%r14,%rax,4); jne 2f; movq 56(%rsp), %rbx; 1: movl (%r14,%rbx,4), %eax;"
                    "testl %eax, %eax; je 1b; 2: nop");
PIECE(looks_and_jumps,
      "movl (%rdi), %eax; testl %eax, %eax; je 1f; ret; nop; 1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
PIECE(looks_at_nothing, "movl (%rsi), %eax; 1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
PIECE(looks_for_either, "movl (%rdi), %eax; testl %eax, %eax; jne 2f; cmpl $0, (%rsi); jne 2f;"
                        "1: movl (%rdi), %eax; testl %eax, %eax; jne 2f; cmpl $0, (%rsi); je 1b; 2: nop");
PIECE(looks_for_something_else, "movl (%rdx), %eax; testl %eax, %eax; jne 3f; movl (%rdi), %eax; testl %eax, %eax;"
                                "jne 2f; 1: movl (%rdi), %eax; testl %eax, %eax; je 1b; 2: nop; 3: nop");

template <class Each>
void for_each_instruction(std::byte* begin, const std::byte* end, Each each) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    Decoded decoded;
    for (std::byte* at = begin; at < end; at += decoded.instruction.length) {
        decoded.at = at;
        EXPECT_TRUE(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, at, static_cast<std::size_t>(end - at),
                                                        &decoded.instruction, decoded.operands)));
        each(decoded);
    }
}

std::vector<SpinLoop> loops_of(std::byte* begin, const std::byte* end) {
    SpinLoops loops;
    std::vector<SpinLoop> found;
    for_each_instruction(begin, end, [&](const Decoded& decoded) {
        if (const auto loop = loops.ends_with(decoded)) found.push_back(*loop);
    });
    return found;
}

/// Of the loads that look before a loop, how far they are from the beginning of the piece, in bytes.
std::vector<std::ptrdiff_t> looks_of(std::byte* begin, const std::byte* end) {
    const std::vector<SpinLoop> loops = loops_of(begin, end);
    EXPECT_EQ(loops.size(), 1U);
    LooksBefore looks(loops);
    std::vector<std::ptrdiff_t> found;
    for_each_instruction(begin, end, [&](const Decoded& decoded) {
        for (const Decoded& load : looks.end_with(decoded)) found.push_back(load.at - begin);
    });
    return found;
}

TEST(SpinLoopsTest, LoopsThatWaitAreFound) {
    EXPECT_EQ(loops_of(waits_begin, waits_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_with_pause_begin, waits_with_pause_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_with_exit_begin, waits_with_exit_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_with_fence_begin, waits_with_fence_end).size(), 1U);
}

TEST(SpinLoopsTest, ALoopThatYieldsWaits) {
    EXPECT_TRUE(loops_of(waits_and_yields_begin, waits_and_yields_end).empty());
    slot_of_yield = dlsym(RTLD_DEFAULT, "sched_yield");
    EXPECT_EQ(loops_of(waits_and_yields_begin, waits_and_yields_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_and_loads_address_begin, waits_and_loads_address_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_and_looks_later_begin, waits_and_looks_later_end).size(), 1U);
}

/// How far the loads are from the beginning of the piece, in bytes, with which its loops may end.
std::vector<std::vector<std::ptrdiff_t>> loads_of(std::byte* begin, const std::byte* end) {
    std::vector<std::vector<std::ptrdiff_t>> found;
    for (const SpinLoop& loop : loops_of(begin, end)) {
        EXPECT_EQ(loop.begin, begin);
        auto& loads = found.emplace_back();
        for (const Decoded& load : loop.loads) loads.push_back(load.at - begin);
    }
    return found;
}

TEST(SpinLoopsTest, LoadsWithWhichALoopMayEndAreNamed) {
    using Loads = std::vector<std::vector<std::ptrdiff_t>>;
    EXPECT_EQ(loads_of(waits_begin, waits_end), (Loads{{0}}));
    EXPECT_EQ(loads_of(waits_for_either_begin, waits_for_either_end), (Loads{{0, 6}}));
    EXPECT_EQ(loads_of(waits_for_both_begin, waits_for_both_end), (Loads{{0}, {6}}));
    EXPECT_EQ(loads_of(waits_for_one_of_two_values_begin, waits_for_one_of_two_values_end), (Loads{{0}}));
}

TEST(LooksBeforeTest, TheLoadThatDecidesWhetherTheLoopIsEnteredIsFound) {
    EXPECT_EQ(looks_of(looks_before_begin, looks_before_end), std::vector<std::ptrdiff_t>{0});
    EXPECT_EQ(looks_of(looks_and_jumps_begin, looks_and_jumps_end), std::vector<std::ptrdiff_t>{0});
    EXPECT_TRUE(looks_of(looks_at_nothing_begin, looks_at_nothing_end).empty());
    EXPECT_EQ(looks_of(looks_for_either_begin, looks_for_either_end), (std::vector<std::ptrdiff_t>{0, 6}));
    EXPECT_EQ(looks_of(looks_for_something_else_begin, looks_for_something_else_end), std::vector<std::ptrdiff_t>{6});
}

TEST(SpinLoopsTest, LoopsThatComputeAreLeftAlone) {
    EXPECT_TRUE(loops_of(counts_begin, counts_end).empty());
    EXPECT_TRUE(loops_of(calls_begin, calls_end).empty());
    EXPECT_TRUE(loops_of(loads_next_address_begin, loads_next_address_end).empty());
    EXPECT_TRUE(loops_of(follows_a_list_begin, follows_a_list_end).empty());
    EXPECT_TRUE(loops_of(copies_on_begin, copies_on_end).empty());
}

TEST(SpinLoopsTest, ABackwardJumpToWhichNoWayLeadsBackIsNoLoop) {
    EXPECT_TRUE(loops_of(jumps_back_begin, jumps_back_end).empty());
    EXPECT_TRUE(loops_of(jumps_back_to_return_begin, jumps_back_to_return_end).empty());
}

} // namespace
} // namespace kumiki::openmp
