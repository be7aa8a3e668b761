// Whether the program uses what an atomic instruction, or an update of a floating-point number, has found or made.
#include "openmp/ranks/code/live_registers.hpp"

#include <cstddef>
#include <gtest/gtest.h>

#include "openmp/ranks/code/atomic_changes.hpp"
#include "openmp/ranks/code/function_calls.hpp"
#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/real_updates.hpp"

namespace kumiki::openmp {
namespace {

#define CODE(NAME, TEXT)                                                                                               \
    asm(".pushsection .text\n" #NAME ": " TEXT "\n ret\n" #NAME "_end:\n.popsection");                                 \
    extern "C" std::byte NAME[], NAME##_end[]

CODE(counts, "lock addq $1, (%rbx)\n mov (%rcx), %rax");
CODE(counts_in_a_loop, "1: lock addq $1, (%rbx)\n add $8, %rbx\n cmp %rbx, %rcx\n jne 1b");
CODE(counts_by_increments, "1: lock incl (%rbx)\n lea 8(%rbx), %rbx\n dec %rcx\n jne 1b");
CODE(counts_before_a_call, "lock subl $1, (%rbx)\n call *%rdx\n jne 1f\n nop\n1:");
CODE(counts_before_a_jump, "lock orl %eax, (%rbx)\n jmp 1f\n ud2\n1: xor %eax, %eax");
CODE(frees, "lock subl $1, (%rbx)\n je 1f\n nop\n1:");
CODE(frees_later, "lock subl $1, (%rbx)\n mov (%rcx), %rax\n sete %dl");
CODE(frees_on_one_way,
     "lock decl (%rbx)\n jmp 1f\n2: jns 3f\n3: ret\n1: lea 1(%rax), %rax\n jrcxz 2b\n xor %eax, %eax");
CODE(carries, "lock addq %rax, (%rbx)\n inc %rcx\n adc $0, %rdx");
CODE(goes_elsewhere, "lock addq $1, (%rbx)\n jmp *%rdx");
CODE(draws, "lock xaddq %rax, (%rbx)");
CODE(is_a_fence, "lock orq $0, (%rsp)\n xor %eax, %eax");

bool uses_result(std::byte* at) {
    const auto decoded = decode({at, 16});
    const auto change = AtomicChange::of(*decoded);
    EXPECT_TRUE(change);
    return change && change->uses_result(decoded->end());
}

TEST(LiveRegistersTest, FlagsAreUsedUntilAllAreWritten) {
    for (std::byte* const code : {counts, counts_in_a_loop, counts_before_a_call, counts_before_a_jump})
        EXPECT_FALSE(uses_result(code)) << static_cast<const void*>(code);
    for (std::byte* const code : {frees, frees_later, frees_on_one_way, carries, goes_elsewhere, draws})
        EXPECT_TRUE(uses_result(code)) << static_cast<const void*>(code);
}

TEST(LiveRegistersTest, AFenceIsThereForItsOrder) { EXPECT_TRUE(uses_result(is_a_fence)); }

TEST(LiveRegistersTest, AnIncrementLeavesOneFlag) {
    EXPECT_FALSE(uses_any(counts_by_increments + 3, Registers{1}, counts_by_increments))
        << "a register that nothing names";
    EXPECT_TRUE(uses_result(counts_by_increments)) << "of the flags that are behind it, DEC leaves the carry, and JNE "
                                                      "reads one that it has written";
}

// As gcc and clang make them: %rdi names the variable, and %xmm0 has what is added.
#define UPDATE(NAME, TEXT)                                                                                             \
    CODE(NAME, "mov (%rdi), %rax\n 1: movq %rax, %xmm1\n addsd %xmm0, %xmm1\n movq %xmm1, %rdx\n"                      \
               "lock cmpxchg %rdx, (%rdi)\n " TEXT)

UPDATE(adds, "jne 1b\n xor %eax, %eax");
UPDATE(adds_and_compares, "mov %rax, %rcx\n cmp %rax, %rcx\n jne 1b");
UPDATE(adds_in_a_loop, "jne 1b\n add $8, %rdi\n cmp %rdi, %rsi\n je 2f\n movsd (%rsi), %xmm0\n jmp adds_in_a_loop\n2:");
UPDATE(adds_before_zeros, "jne 1b\n vxorpd %xmm1, %xmm1, %xmm1\n vcvtsi2sd %esi, %xmm1, %xmm1\n movsd %xmm1, (%rsi)");
UPDATE(adds_the_other_way, "je 2f\n jmp 1b\n2: movsd (%rsi), %xmm1\n addsd %xmm1, %xmm0");
UPDATE(adds_before_a_call, "jne 1b\n call takes_none");
UPDATE(adds_in_a_long_loop, "jne 1b\n .rept 1500\n lea 8(%rdi), %rdi\n .endr\n jmp adds_in_a_long_loop");
UPDATE(finds, "jne 1b\n movq %rax, %xmm0");
UPDATE(makes, "jne 1b\n movsd %xmm1, (%rsi)");
CODE(makes_in_upper, "mov (%rdi), %rax\n 1: movq %rax, %xmm1\n vaddsd %xmm0, %xmm1, %xmm22\n vmovq %xmm22, %rdx\n"
                     "lock cmpxchg %rdx, (%rdi)\n jne 1b\n vmovsd %xmm22, (%rsi)");
UPDATE(makes_on_one_way, "jne 1b\n test %rsi, %rsi\n je 2f\n cvttsd2si %xmm1, %rax\n2:");
UPDATE(repeats_in_another_way, "setne %cl\n test %cl, %cl\n jne 1b");

bool uses_update(std::byte* begin, std::byte* end, FunctionCalls* calls = nullptr) {
    RealUpdates updates;
    for_each_instruction({begin, end}, [&updates](const Glance& glance) { updates.add(glance); });
    EXPECT_EQ(updates.found().size(), 1u);
    return updates.found().size() != 1 || updates.found().front().uses_result(calls);
}

CODE(returns_it, "mov (%rdi), %rax\n 1: movq %rax, %xmm0\n addsd (%rsi), %xmm0\n movq %xmm0, %rdx\n"
                 "lock cmpxchg %rdx, (%rdi)\n jne 1b");
UPDATE(returns_nothing, "jne 1b\n nop");
UPDATE(returns_it_behind_a_loop, "jne 1b\n sub $1, %rsi\n jne returns_it_behind_a_loop");
CODE(takes_it, "addsd %xmm1, %xmm0");
CODE(takes_none, "xorps %xmm0, %xmm0\n addsd (%rdi), %xmm0\n xorps %xmm1, %xmm1");
UPDATE(passes_it_on, "jne 1b\n call takes_it\n xorps %xmm0, %xmm0\n xorps %xmm1, %xmm1");
UPDATE(passes_nothing_on, "jne 1b\n call takes_none\n xorps %xmm0, %xmm0\n xorps %xmm1, %xmm1");
UPDATE(passes_it_on_in_a_loop, "jne 1b\n test %rsi, %rsi\n je passes_it_on_in_a_loop\n call takes_it\n"
                               "jmp passes_it_on_in_a_loop");
UPDATE(calls_behind_a_loop, "jne 1b\n test %rsi, %rsi\n je calls_behind_a_loop\n call takes_it\n ud2");
UPDATE(calls_by_a_table, "jne 1b\n call by_table\n xorps %xmm0, %xmm0\n xorps %xmm1, %xmm1");
asm(".pushsection .text\n by_table: jmp *function_in_table(%rip)\n .popsection\n"
    ".pushsection .data\n function_in_table: .quad takes_it\n .popsection");
UPDATE(calls_anything, "jne 1b\n call *%rsi\n xorps %xmm0, %xmm0\n xorps %xmm1, %xmm1");

TEST(LiveRegistersTest, WhatFunctionsTakeOrReturnMayBeUsed) {
    EXPECT_TRUE(uses_update(returns_it, returns_it_end));
    EXPECT_FALSE(uses_update(returns_nothing, returns_nothing_end)) << "what it has made is in %xmm1";
    EXPECT_FALSE(uses_update(returns_it_behind_a_loop, returns_it_behind_a_loop_end));
    EXPECT_TRUE(uses_update(passes_it_on, passes_it_on_end));
    EXPECT_TRUE(uses_update(passes_it_on_in_a_loop, passes_it_on_in_a_loop_end));
    EXPECT_FALSE(uses_update(passes_nothing_on, passes_nothing_on_end));
    EXPECT_FALSE(uses_update(calls_behind_a_loop, calls_behind_a_loop_end));
    EXPECT_FALSE(uses_update(calls_by_a_table, calls_by_a_table_end))
        << "of this object, which counts as the runtime in this test";
    EXPECT_TRUE(uses_update(calls_anything, calls_anything_end));
}

// Functions that return what they have made in %xmm0, with the tables by which their begins are found, and their
// callers.
#define FUNCTION(NAME, TEXT) ".cfi_startproc\n" #NAME ": " TEXT "\n ret\n" #NAME "_end:\n .cfi_endproc\n"
#define RETURNS_IT                                                                                                     \
    "mov (%rdi), %rax\n 1: movq %rax, %xmm0\n addsd (%rsi), %xmm0\n movq %xmm0, %rdx\n lock cmpxchg %rdx, (%rdi)\n "   \
    "jne 1b"
asm(".pushsection .text\n functions:\n" FUNCTION(ignored, RETURNS_IT) FUNCTION(used, RETURNS_IT)
        FUNCTION(returned_again, RETURNS_IT) FUNCTION(called_by_jump, RETURNS_IT) FUNCTION(called_by_nobody, RETURNS_IT)
            FUNCTION(calls_two, "call ignored\n call ignored\n xorps %xmm0, %xmm0\n call used\n addsd %xmm0, %xmm1")
                FUNCTION(returns_again, "call returned_again")
                    FUNCTION(calls_that, "call returns_again\n addsd %xmm0, %xmm1")
                        FUNCTION(jumps, "jmp called_by_jump") "functions_end:\n.popsection");
extern "C" std::byte functions[], functions_end[], ignored[], ignored_end[], used[], used_end[], returned_again[],
    returned_again_end[], called_by_jump[], called_by_jump_end[], called_by_nobody[], called_by_nobody_end[];

TEST(LiveRegistersTest, WhatAFunctionReturnsIsUsedIfACallerMayUseIt) {
    Image image;
    image.code = {{functions, functions_end}};
    FunctionCalls calls(image);
    EXPECT_FALSE(uses_update(ignored, ignored_end, &calls));
    EXPECT_TRUE(uses_update(used, used_end, &calls));
    EXPECT_TRUE(uses_update(returned_again, returned_again_end, &calls)) << "by the caller of the caller";
    EXPECT_TRUE(uses_update(called_by_jump, called_by_jump_end, &calls)) << "in doubt";
    EXPECT_TRUE(uses_update(called_by_nobody, called_by_nobody_end, &calls)) << "in doubt";

    std::byte* table[] = {nullptr, ignored};
    image.segments = {std::as_writable_bytes(std::span(table))};
    FunctionCalls with_pointers(image);
    EXPECT_TRUE(uses_update(ignored, ignored_end, &with_pointers)) << "its address is known to others";
}

TEST(LiveRegistersTest, WhatAnUpdateMakesMayNotBeUsed) {
    EXPECT_FALSE(uses_update(adds, adds_end));
    EXPECT_FALSE(uses_update(adds_in_a_loop, adds_in_a_loop_end));
    EXPECT_FALSE(uses_update(adds_before_zeros, adds_before_zeros_end));
    EXPECT_FALSE(uses_update(adds_the_other_way, adds_the_other_way_end));
    EXPECT_FALSE(uses_update(adds_before_a_call, adds_before_a_call_end));
    EXPECT_FALSE(uses_update(adds_in_a_long_loop, adds_in_a_long_loop_end));
}

TEST(LiveRegistersTest, WhatAnUpdateFindsOrMakesMayBeUsed) {
    EXPECT_TRUE(uses_update(adds_and_compares, adds_and_compares_end)) << "it moves what it has found";
    EXPECT_TRUE(uses_update(finds, finds_end));
    EXPECT_TRUE(uses_update(makes, makes_end));
    EXPECT_TRUE(uses_update(makes_in_upper, makes_in_upper_end));
    EXPECT_TRUE(uses_update(makes_on_one_way, makes_on_one_way_end));
    EXPECT_TRUE(uses_update(repeats_in_another_way, repeats_in_another_way_end)) << "in doubt";
}

} // namespace
} // namespace kumiki::openmp
