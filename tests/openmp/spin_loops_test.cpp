// Which pieces of a program's code are taken for loops that wait for a variable. The code is never executed.
#include "openmp/ranks/code/spin_loops.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <set>
#include <span>
#include <vector>

#include "code_pieces.hpp"
#include "openmp/ranks/code/looks_before.hpp"

extern "C" {
void* slot_of_yield = nullptr; ///< as the linker's, through which a program calls sched_yield
int a_variable = 0;
extern std::byte __executable_start[], _end[]; ///< of the test
extern const double a_constant = 0.5;
}

namespace kumiki::openmp {
namespace {

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
// And GCC 12 with -Os, which keeps the end of the waiting time on the stack during the call.
PIECE(waits_until,
      "1: movsd %xmm1, 8(%rsp); call *slot_of_yield(%rip); movsd 8(%rsp), %xmm1; comisd %xmm0, %xmm1; jbe 2f;"
      "movl (%rbx), %eax; testl %eax, %eax; je 1b; 2: nop");
PIECE(sums_around_calls,
      "1: movsd %xmm1, 8(%rsp); call *slot_of_yield(%rip); movsd 8(%rsp), %xmm1; addsd (%rbx), %xmm1;"
      "comisd %xmm2, %xmm1; ja 1b");
PIECE(follows_a_list, "1: testq %rbx, %rbx; je 2f; movq (%rbx), %rbx; jmp 1b; 2: nop");
PIECE(copies_on, "1: testl %ebx, %ebx; jle 2f; movl %ecx, %ebx; movl (%r15), %ecx; jmp 1b; 2: nop");
PIECE(loads_next_address, "1: movl (%rdx), %eax; testl %eax, %eax; jne 2f; leaq 8(%rdx), %rdx; jmp 1b; 2: nop");
PIECE(waits_for_either, "1: movl (%rdi), %eax; testl %eax, %eax; jne 2f; movl (%rsi), %eax; testl %eax, %eax; je 1b;"
                        "2: nop");
PIECE(waits_for_both, "1: movl (%rdi), %eax; testl %eax, %eax; je 1b; movl (%rsi), %eax; testl %eax, %eax; je 1b");
PIECE(waits_for_one_of_two_values, "1: movl (%rdi), %eax; cmpl %eax, %esi; jle 2f; cmpl $-1, %eax; jne 1b; 2: nop");
PIECE(waits_by_branches,
      "1: testl %esi, %esi; je 2f; movl (%rdi), %eax; jmp 3f; 2: movl (%rdi), %eax; jmp 3f; 3: cmpl %eax, %edx;"
      "jne 1b");
PIECE(waits_and_counts, "xorl %ecx, %ecx; 1: movl (%rdi), %eax; addl $1, %ecx; testl %eax, %eax; je 1b");
PIECE(waits_in_growing_steps, "movl $1, %ecx; 1: movl a_variable(%rip), %eax; testl %eax, %eax; jne 3f; xorl %eax, "
                              "%eax; 2: pause; addl $1, %eax; cmpl %eax, %ecx;"
                              "jne 2b; addl %ecx, %ecx; jmp 1b; 3: nop");
PIECE(waits_and_yields_at_last,
      "xorl %ebp, %ebp; 1: movl (%rbx), %eax; testl %eax, %eax; jne 3f; addl $1, %ebp; cmpl $100, %ebp; jne 1b;"
      "xorl %ebp, %ebp; call *slot_of_yield(%rip); jmp 1b; 3: nop");
PIECE(waits_between_work, "0: addsd (%rdx,%rsi,8), %xmm0; addl $1, %esi; xorl %ecx, %ecx; 1: movl (%rdi), %eax; addl "
                          "$1, %ecx; testl %eax, %eax; je 1b;"
                          "movl $0, (%rdx,%rsi,8); cmpl $9, %esi; jne 0b");
PIECE(counts_on, "1: movl (%rdi), %eax; addl $1, %ecx; testl %eax, %eax; je 1b");
// What clang 14 made of a loop over planes of NPB FT, which has nothing to do where there are no rows.
PIECE(leaves_out, "xorl %r8d, %r8d; 1: addl $1, %r8d; cmpl %r8d, %r12d; je 3f; movl (%rbx), %eax; testl %eax, %eax; "
                  "jle 1b; 2: movl $0, (%rdi,%rax);"
                  "subl $1, %eax; jne 2b; jmp 1b; 3: nop");
PIECE(counts, "1: addl $1, %ecx; cmpl %ecx, %esi; jne 1b");
PIECE(counts_on_stack, "1: addl $1, %ecx; cmpl 8(%rsp), %ecx; jne 1b");
// Loops that take time, with a limit that the program changes between them, and compilers therefore load in each pass.
PIECE(counts_to_variable, "xorl %eax, %eax; 1: addq $1, %rax; cmpq (%rdx), %rax; jb 1b");
PIECE(counts_to_loaded,
      "xorl %ecx, %ecx; 1: addl $1, %ecx; movl (%rdi), %eax; cmpl %eax, %ecx; jge 2f; jmp 1b; 2: nop");
PIECE(counts_behind_look, "xorl %eax, %eax; 1: movl (%rdi), %edx; cmpl %edx, %eax; jge 2f; incl %eax; jmp 1b; 2: nop");
// A loop of SPLASH, by GCC 12: of three directions it chooses the last one that is not one of two, of which one is in
// memory.
PIECE(counts_to_constant, "movl $1, %eax; 1: cmpl %ecx, %eax; je 2f; movq 8(%rsp), %r9; cmpl (%r9), %eax; cmovne %eax, "
                          "%edi; cmovne %esi, %edx;"
                          "2: addl $1, %eax; cmpl $4, %eax; jne 1b");
PIECE(waits_up_to_constant,
      "movl $1, %eax; 1: movl (%rdi), %ecx; testl %ecx, %ecx; jne 2f; addl $1, %eax; cmpl $4, %eax;"
      "jne 1b; 2: nop");
PIECE(counts_on_to_loaded,
      "xorl %ecx, %ecx; 1: leal 1(%rcx), %esi; movl (%rdi), %eax; movl %esi, %ecx; cmpl %esi, %eax;"
      "jne 1b");
// What GCC 12 made of loops of two passes, as over pairs of coordinates: the counter gets its second value.
PIECE(passes_twice, "1: movl (%rdi,%r8,4), %eax; testl %eax, %eax; jg 2f; cmpq $1, %r8; je 2f; movl $1, %r8d; jmp 1b;"
                    "2: nop");
PIECE(passes_second, "xorl %eax, %eax; jmp 2f; 1: movl $8, %eax; 2: movq 16(%rdx,%rax), %rsi; testq %rsi, %rsi; jne 3f;"
                     "cmpq $8, %rax; jne 1b; 3: nop");
// Loops that keep in a register that they have seen the flag.
PIECE(notes_what_it_saw,
      "xorl %ecx, %ecx; 1: movl (%rdi), %eax; testl %eax, %eax; je 2f; movl $1, %ecx; 2: cmpl $1, %ecx; jne 1b");
PIECE(notes_for_next_pass, "1: cmpl $1, %ecx; je 2f; movl (%rdi), %eax; testl %eax, %eax; je 1b; movl $1, %ecx; jmp 1b;"
                           "2: nop");
// What GCC 12 makes with -Og of a loop that waits for both of two neighbours: the address is set in its second half.
PIECE(sets_address_later,
      "jmp 3f; 1: movl 4(%rdx,%rdi,4), %eax; cmpl %esi, %eax; jge 4f; 2: movl $1, %eax; testb %al, %al;"
      "je 4f; 3: leaq a_variable(%rip), %rdx; movl (%rdx,%rdi,4), %eax; cmpl %esi, %eax; jge 1b;"
      "jmp 2b; 4: nop");
PIECE(ends_in_a_trap, "1: movl (%rbx), %eax; ud2; 2: testq %rbp, %rbp; je 1b");
PIECE(marks_elements, "1: movl (%rbx,%rax,4), %ecx; testl %ecx, %ecx; jne 2f; movl $1, (%rbx,%rdx,4); jmp 1b; 2: nop");
PIECE(waits_up_to_variable, "xorl %ecx, %ecx; 1: movl (%rdi), %eax; testl %eax, %eax; jne 2f; addl $1, %ecx;"
                            "cmpl (%rsi), %ecx; jne 1b; 2: nop");
PIECE(waits_for_number, "xorl %ecx, %ecx; 1: addl $1, %ecx; movl (%rdi), %eax; cmpl %eax, %edx; jne 1b");
PIECE(halves, "1: mulsd a_constant(%rip), %xmm0; addl $1, %ecx; cmpl %ecx, %esi; jne 1b");
PIECE(searches_value, "1: addq $4, %rdi; movl (%rsi), %eax; cmpl (%rdi), %eax; jne 1b");
PIECE(writes, "1: movl (%rsi), %eax; movl %ecx, (%rdi); addl $1, %ecx; cmpl %eax, %ecx; jne 1b");
PIECE(calls, "1: call *%rsi; movl (%rdi), %eax; testl %eax, %eax; je 1b");
// What GCC 12 made of a row of NPB MG's residual: the last comparison jumps to a piece of code that goes on elsewhere.
PIECE(jumps_back, "1: movl $1, %eax; movl 16(%rsp), %ecx; jmp 3f; 2: cmpl $4, 8(%rsp); je 1b; 3: nop");
PIECE(jumps_back_to_return, "1: movl $1, %eax; ret; 2: cmpl $4, 8(%rsp); je 1b");

// What clang 14 made of a row of LU: the address is loaded between the look before the loop and the loop.
PIECE(looks_before, "cmpl $0, -4(%r14,%rax,4); jne 2f; movq 56(%rsp), %rbx; 1: movl (%r14,%rbx,4), %eax;"
                    "testl %eax, %eax; je 1b; 2: nop");
PIECE(looks_and_jumps,
      "movl (%rdi), %eax; testl %eax, %eax; je 1f; ret; nop; 1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
// What clang 14 made of a loop that yields at last: the way past the loop comes first, and the loop is entered in its
// middle.
PIECE(looks_and_jumps_around, "movl (%rdi), %eax; cmpl %esi, %eax; jne 2f; 1: popq %rbx; ret; 2: movq %rdi, %rbx;"
                              "xorl %eax, %eax; jmp 4f; 3: movl (%rbx), %ecx; cmpl %ebp, %ecx; je 1b;"
                              "4: addl $1, %eax; cmpl $100, %eax; jne 3b; call *slot_of_yield(%rip);"
                              "xorl %eax, %eax; jmp 3b");
PIECE(looks_at_nothing, "movl (%rsi), %eax; 1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
// As in the pipeline of NPB LU: whether a thread waits at all depends on variables of its own.
PIECE(looks_at_own_variables, "movl %fs:8, %eax; cmpl %fs:16, %eax; jl 1f; ret; nop;"
                              "1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
PIECE(looks_and_compares, "movl (%rdi), %eax; cmpl %fs:8, %eax; je 1f; ret; nop;"
                          "1: movl (%rdi), %eax; testl %eax, %eax; je 1b");
// Functions that loops call: two that only look, of which the second one is as unoptimised code has them; and three
// that do something else.
PIECE(is_set, "cmpl $0, (%rdi); setne %al; ret");
PIECE(is_set_slowly,
      "pushq %rbp; movq %rsp, %rbp; subq $16, %rsp; movq %rdi, -8(%rbp); movl $2, %edi; call is_set_begin;"
      "movq -8(%rbp), %rax; movl (%rax), %eax; testl %eax, %eax; jne 1f; movl 4(%rdi), %eax; 1: leave; ret");
// As GCC makes std::atomic<double>::load: by way of a variable of its own, whose address it keeps.
PIECE(copies_value, "pushq %rbp; movq %rsp, %rbp; leaq -16(%rbp), %rax; movq %rax, -8(%rbp); movq (%rdi), %rcx;"
                    "movq -8(%rbp), %rax; movq %rcx, (%rax); popq %rbp; ret");
PIECE(copies_elsewhere, "pushq %rbp; movq %rsp, %rbp; leaq -16(%rbp), %rax; movq %rax, -8(%rbp); movq %rdi, -8(%rbp);"
                        "movq (%rdi), %rcx; movq -8(%rbp), %rax; movq %rcx, (%rax); popq %rbp; ret");
PIECE(asks_for_value, "1: movq %rbx, %rdi; call copies_value_begin; testq %rcx, %rcx; je 1b");
PIECE(asks_for_number,
      "1: movq %rbx, %rdi; call is_set_begin; movq %xmm0, %rax; pxor %xmm0, %xmm0; cvtsi2sdl -16(%rbp), %xmm0;"
      "movq %rax, %xmm1; ucomisd %xmm0, %xmm1; jne 1b");
PIECE(asks_for_converted,
      "1: movq %rbx, %rdi; call is_set_begin; cvtsi2sdl -16(%rbp), %xmm1; ucomisd %xmm1, %xmm0; jne 1b");
PIECE(asks_who_copies, "1: movq %rbx, %rdi; call copies_elsewhere_begin; testq %rcx, %rcx; je 1b");
PIECE(counts_calls, "addl $1, 8(%rdi); cmpl $0, (%rdi); setne %al; ret");
PIECE(searches, "1: movl (%rdi), %eax; testl %eax, %eax; je 1b; ret");
PIECE(calls_itself, "movl (%rdi), %eax; call calls_itself_begin; ret");
PIECE(asks, "1: movq %rbx, %rdi; call is_set_begin; testb %al, %al; je 1b");
PIECE(asks_slowly, "1: movq %rbx, %rdi; call is_set_slowly_begin; cmpl -4(%rbp), %eax; je 1b");
PIECE(asks_who_counts, "1: movq %rbx, %rdi; call counts_calls_begin; testb %al, %al; je 1b");
PIECE(asks_who_searches, "1: movq %rbx, %rdi; call searches_begin; testb %al, %al; je 1b");
PIECE(asks_for_ever, "1: movq %rbx, %rdi; call calls_itself_begin; testb %al, %al; je 1b");
PIECE(asks_the_next_one, "1: addq $8, %rbx; movq %rbx, %rdi; call is_set_begin; testb %al, %al; je 1b");
// What GCC 12 makes of a loop that is expected not to wait: behind its condition the function goes on.
PIECE(waits_rarely,
      "1: movl (%rdi), %eax; testl %eax, %eax; je 2f; call *%rsi; lock addl $1, (%rdx); ret; 2: pause; jmp 1b");
// A loop in which nothing but time passes, as where a clock's resolution is measured.
PIECE(waits_for_time, "1: call *slot_of_yield(%rip); subsd 8(%rsp), %xmm0; comisd %xmm0, %xmm1; ja 1b");
// Code that no jump reaches.
PIECE(waits_with_handler, "1: movl (%rdi), %eax; jmp 2f; movq %rax, %rdi; call *%rsi; 2: testl %eax, %eax; je 1b");

PIECE(looks_for_either, "movl (%rdi), %eax; testl %eax, %eax; jne 2f; cmpl $0, (%rsi); jne 2f;"
                        "1: movl (%rdi), %eax; testl %eax, %eax; jne 2f; cmpl $0, (%rsi); je 1b; 2: nop");
PIECE(looks_for_something_else, "movl (%rdx), %eax; testl %eax, %eax; jne 3f; movl (%rdi), %eax; testl %eax, %eax;"
                                "jne 2f; 1: movl (%rdi), %eax; testl %eax, %eax; je 1b; 2: nop; 3: nop");

std::vector<SpinLoop> loops_of(std::byte* begin, const std::byte* end) {
    Image program;
    program.segments = program.code = {{__executable_start, _end}};
    program.data = std::as_writable_bytes(std::span(&a_variable, 1));
    WaitingCalls calls(program);
    SpinLoops loops(calls);
    for_each_instruction({begin, end}, [&](const Glance& glance) { loops.add(glance); });
    return loops.found();
}

/// Of the loads that look before a loop, how far they are from the beginning of the piece, in bytes.
std::vector<std::ptrdiff_t> looks_of(std::byte* begin, const std::byte* end) {
    const std::vector<SpinLoop> loops = loops_of(begin, end);
    EXPECT_FALSE(loops.empty());
    LooksBefore looks(loops, {begin, end});
    std::set<std::ptrdiff_t> found;
    for_each_instruction({begin, end}, [&](const Glance& glance) {
        for (const Decoded& load : looks.loads_before(glance)) found.insert(load.at - begin);
    });
    return {found.begin(), found.end()};
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
    EXPECT_EQ(loops_of(waits_until_begin, waits_until_end).size(), 1U);
    EXPECT_TRUE(loops_of(sums_around_calls_begin, sums_around_calls_end).empty());
}

TEST(SpinLoopsTest, HowTheFunctionGoesOnIsNoPartOfTheLoop) {
    const auto loops = loops_of(waits_rarely_begin, waits_rarely_end);
    ASSERT_EQ(loops.size(), 1U);
    std::vector<std::ptrdiff_t> body;
    for (const std::byte* const each : loops.front().body) body.push_back(each - waits_rarely_begin);
    EXPECT_EQ(body, (std::vector<std::ptrdiff_t>{0, 2, 4, 13, 15}));
    EXPECT_EQ(loops.front().exits, std::vector<std::byte*>{waits_rarely_begin + 6});
}

TEST(SpinLoopsTest, ALoopThatLooksAtNoVariableOfOthersIsLeftAlone) {
    slot_of_yield = dlsym(RTLD_DEFAULT, "clock_gettime");
    EXPECT_TRUE(loops_of(waits_for_time_begin, waits_for_time_end).empty());
    EXPECT_EQ(loops_of(waits_and_yields_begin, waits_and_yields_end).size(), 1U);
}

TEST(SpinLoopsTest, LoopsThatCountWhileTheyWaitAreFound) {
    slot_of_yield = dlsym(RTLD_DEFAULT, "sched_yield");
    EXPECT_EQ(loops_of(waits_and_counts_begin, waits_and_counts_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_between_work_begin, waits_between_work_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_in_growing_steps_begin, waits_in_growing_steps_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_and_yields_at_last_begin, waits_and_yields_at_last_end).size(), 2U);
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
    EXPECT_EQ(loads_of(waits_for_both_begin, waits_for_both_end), (Loads{{0}, {0, 6}}));
    EXPECT_EQ(loads_of(waits_for_one_of_two_values_begin, waits_for_one_of_two_values_end), (Loads{{0}}));
    EXPECT_EQ(loads_of(waits_by_branches_begin, waits_by_branches_end), (Loads{{4, 8}}));
}

TEST(SpinLoopsTest, FunctionsThatOnlyLookMayBeCalled) {
    const auto loads = [](std::byte* begin, const std::byte* end, const std::byte* function) {
        std::vector<std::ptrdiff_t> found;
        for (const SpinLoop& loop : loops_of(begin, end))
            for (const Decoded& load : loop.loads) found.push_back(load.at - function);
        return found;
    };
    EXPECT_EQ(loads(asks_begin, asks_end, is_set_begin), std::vector<std::ptrdiff_t>{0});
    // The third load is that of the loop's own variable.
    const auto slowly = loads(asks_slowly_begin, asks_slowly_end, is_set_slowly_begin);
    EXPECT_EQ(std::vector(slowly.begin(), slowly.begin() + 2), (std::vector<std::ptrdiff_t>{26, 32}));
    EXPECT_EQ(slowly.size(), 3U);
    EXPECT_EQ(loads(asks_for_value_begin, asks_for_value_end, copies_value_begin), std::vector<std::ptrdiff_t>{12});
    EXPECT_EQ(loops_of(asks_for_number_begin, asks_for_number_end).size(), 1U);
    EXPECT_EQ(loops_of(asks_for_converted_begin, asks_for_converted_end).size(), 1U);
    EXPECT_TRUE(loops_of(asks_who_copies_begin, asks_who_copies_end).empty());
    EXPECT_TRUE(loops_of(asks_who_counts_begin, asks_who_counts_end).empty());
    EXPECT_TRUE(loops_of(asks_who_searches_begin, asks_who_searches_end).empty());
    EXPECT_TRUE(loops_of(asks_for_ever_begin, asks_for_ever_end).empty());
    EXPECT_TRUE(loops_of(asks_the_next_one_begin, asks_the_next_one_end).empty());
    EXPECT_EQ(loops_of(waits_with_handler_begin, waits_with_handler_end).size(), 1U);
}

TEST(LooksBeforeTest, TheLoadThatDecidesWhetherTheLoopIsEnteredIsFound) {
    EXPECT_EQ(looks_of(looks_before_begin, looks_before_end), std::vector<std::ptrdiff_t>{0});
    EXPECT_EQ(looks_of(looks_and_jumps_begin, looks_and_jumps_end), std::vector<std::ptrdiff_t>{0});
    EXPECT_EQ(looks_of(looks_and_jumps_around_begin, looks_and_jumps_around_end), std::vector<std::ptrdiff_t>{0});
    EXPECT_TRUE(looks_of(looks_at_nothing_begin, looks_at_nothing_end).empty());
    EXPECT_TRUE(looks_of(looks_at_own_variables_begin, looks_at_own_variables_end).empty());
    EXPECT_EQ(looks_of(looks_and_compares_begin, looks_and_compares_end), std::vector<std::ptrdiff_t>{0});
    EXPECT_EQ(looks_of(looks_for_either_begin, looks_for_either_end), (std::vector<std::ptrdiff_t>{0, 6}));
    EXPECT_EQ(looks_of(looks_for_something_else_begin, looks_for_something_else_end), std::vector<std::ptrdiff_t>{6});
}

TEST(SpinLoopsTest, LoopsThatComputeAreLeftAlone) {
    EXPECT_TRUE(loops_of(counts_begin, counts_end).empty());
    EXPECT_TRUE(loops_of(copies_on_begin, copies_on_end).empty());
    EXPECT_TRUE(loops_of(counts_on_begin, counts_on_end).empty());
    EXPECT_TRUE(loops_of(counts_on_stack_begin, counts_on_stack_end).empty());
    EXPECT_TRUE(loops_of(halves_begin, halves_end).empty());
    EXPECT_TRUE(loops_of(searches_value_begin, searches_value_end).empty());
    EXPECT_TRUE(loops_of(writes_begin, writes_end).empty());
    EXPECT_TRUE(loops_of(leaves_out_begin, leaves_out_end).empty());
    EXPECT_TRUE(loops_of(calls_begin, calls_end).empty());
    EXPECT_TRUE(loops_of(loads_next_address_begin, loads_next_address_end).empty());
    EXPECT_TRUE(loops_of(follows_a_list_begin, follows_a_list_end).empty());
    EXPECT_TRUE(loops_of(counts_to_variable_begin, counts_to_variable_end).empty());
    EXPECT_TRUE(loops_of(counts_to_loaded_begin, counts_to_loaded_end).empty());
    EXPECT_TRUE(loops_of(counts_behind_look_begin, counts_behind_look_end).empty());
    EXPECT_TRUE(loops_of(counts_on_to_loaded_begin, counts_on_to_loaded_end).empty());
    EXPECT_TRUE(loops_of(counts_to_constant_begin, counts_to_constant_end).empty());
    EXPECT_TRUE(loops_of(passes_twice_begin, passes_twice_end).empty());
    EXPECT_TRUE(loops_of(passes_second_begin, passes_second_end).empty());
    EXPECT_TRUE(loops_of(ends_in_a_trap_begin, ends_in_a_trap_end).empty());
    EXPECT_TRUE(loops_of(marks_elements_begin, marks_elements_end).empty());
}

TEST(SpinLoopsTest, ALimitOfTheCounterIsNotWaitedFor) {
    const auto loops = loops_of(waits_up_to_variable_begin, waits_up_to_variable_end);
    ASSERT_EQ(loops.size(), 1U);
    ASSERT_EQ(loops.front().loads.size(), 1U);
    EXPECT_EQ(loops.front().loads.front().at, loops.front().begin);
    EXPECT_EQ(loops_of(waits_for_number_begin, waits_for_number_end).size(), 1U);
    EXPECT_EQ(loops_of(waits_up_to_constant_begin, waits_up_to_constant_end).size(), 1U);
}

TEST(SpinLoopsTest, LoopsThatSetAConstantWhileTheyWaitAreFound) {
    EXPECT_EQ(loops_of(notes_what_it_saw_begin, notes_what_it_saw_end).size(), 1U);
    EXPECT_FALSE(loops_of(sets_address_later_begin, sets_address_later_end).empty());
    EXPECT_FALSE(loops_of(notes_for_next_pass_begin, notes_for_next_pass_end).empty());
}

TEST(SpinLoopsTest, ABackwardJumpToWhichNoWayLeadsBackIsNoLoop) {
    EXPECT_TRUE(loops_of(jumps_back_begin, jumps_back_end).empty());
    EXPECT_TRUE(loops_of(jumps_back_to_return_begin, jumps_back_to_return_end).empty());
}

} // namespace
} // namespace kumiki::openmp
