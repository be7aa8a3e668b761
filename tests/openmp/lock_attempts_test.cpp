// Which atomic instructions are taken for attempts to enter a lock of the program. The code is never executed.
#include "openmp/ranks/code/lock_attempts.hpp"

#include <gtest/gtest.h>

#include "code_pieces.hpp"

namespace kumiki::openmp {
namespace {

PIECE(tests_and_sets, "1: movl %edx, %eax; xchgb (%rdi), %al; testb %al, %al; jne 1b");
PIECE(sets_bit, "1: lock btsl $0, (%rdi); jc 1b");
PIECE(expects_zero, "1: xorl %eax, %eax; lock cmpxchgl %edx, (%rdi); jne 1b");
PIECE(expects_kept_zero, "xorl %ecx, %ecx; movl $1, %edx; 1: movl %ecx, %eax; lock cmpxchgl %edx, (%rdi); jne 1b");
PIECE(expects_slowly, "movl $0, -12(%rbp); movl -12(%rbp), %eax; movl $1, %edx; lock cmpxchgl %edx, (%rbx); je 2f;"
                      "movl %eax, -12(%rbp); 2: nop");
PIECE(expects_argument, "movl %esi, %eax; lock cmpxchgl %edx, (%rdi); sete %al");

// What GCC makes of a reduction of numbers with a fraction, in two ways, and without optimisation; and of a maximum.
PIECE(adds, "movq (%rdi), %rax; 1: movq %rax, %xmm1; addsd %xmm0, %xmm1; movq %xmm1, %rdx;"
            "lock cmpxchgq %rdx, (%rdi); jne 1b");
PIECE(adds_and_compares, "movq (%rdi), %rdx; 1: movq %rdx, %xmm1; addsd %xmm0, %xmm1; movq %xmm1, %rcx; movq %rdx, "
                         "%rax; lock cmpxchgq %rcx, (%rdi); movq %rdx, %rsi; movq %rax, %rdx; cmpq %rsi, %rax; jne 1b");
PIECE(adds_slowly, "movq (%rax), %rax; movq %rax, -24(%rbp); movq -24(%rbp), %rax; movq %rax, %xmm0;"
                   "addsd -8(%rbp), %xmm0; movq %xmm0, %rcx; movq -32(%rbp), %rdx; movq -24(%rbp), %rax;"
                   "lock cmpxchgq %rcx, (%rdx)");
PIECE(takes_larger, "movl (%rdi), %eax; 1: cmpl %esi, %eax; jge 2f; lock cmpxchgl %esi, (%rdi); jne 1b; 2: nop");
PIECE(counts, "lock addl $1, (%rdi); lock xaddl %eax, (%rdi); lock orl $1, (%rdi)");

int attempts_of(std::byte* begin, const std::byte* end) {
    LockAttempts attempts;
    int found = 0;
    for_each_instruction({begin, end}, [&](const Glance& glance) { found += attempts.add(glance) ? 1 : 0; });
    return found;
}

TEST(LockAttemptsTest, AnExchangeIsOne) {
    EXPECT_EQ(attempts_of(tests_and_sets_begin, tests_and_sets_end), 1);
    EXPECT_EQ(attempts_of(sets_bit_begin, sets_bit_end), 1);
}

TEST(LockAttemptsTest, WhatExpectsAValueOfTheProgramIsOne) {
    EXPECT_EQ(attempts_of(expects_zero_begin, expects_zero_end), 1);
    EXPECT_EQ(attempts_of(expects_kept_zero_begin, expects_kept_zero_end), 1);
    EXPECT_EQ(attempts_of(expects_slowly_begin, expects_slowly_end), 1);
    EXPECT_EQ(attempts_of(expects_argument_begin, expects_argument_end), 1);
}

TEST(LockAttemptsTest, WhatComputesANewValueFromTheOldOneIsNone) {
    EXPECT_EQ(attempts_of(adds_begin, adds_end), 0);
    EXPECT_EQ(attempts_of(adds_and_compares_begin, adds_and_compares_end), 0);
    EXPECT_EQ(attempts_of(adds_slowly_begin, adds_slowly_end), 0);
    EXPECT_EQ(attempts_of(takes_larger_begin, takes_larger_end), 0);
    EXPECT_EQ(attempts_of(counts_begin, counts_end), 0);
}

} // namespace
} // namespace kumiki::openmp
