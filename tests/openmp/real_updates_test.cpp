// Which code is taken for an update of a floating-point number, as compilers make it of atomic constructs and
// reductions; and what homes calculate.
#include "openmp/ranks/code/real_updates.hpp"

#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <xmmintrin.h>

#include "code_pieces.hpp"
#include "openmp/ranks/code/vector_registers.hpp"

namespace kumiki::openmp {
namespace {

using Kind = dsm::WordChange::Kind;

std::vector<RealUpdate> updates_in(std::byte* begin, std::byte* end) {
    RealUpdates updates;
    for_each_instruction({begin, end}, [&](const Glance& glance) { updates.add(glance); });
    return updates.found();
}
#define UPDATES_IN(NAME) updates_in(NAME##_begin, NAME##_end)

// gcc -O2: x += y, with x behind a pointer.
PIECE(gcc, "mov (%rdi), %rdx\n 1: movq %rdx, %xmm1\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n"
           "lock cmpxchg %rcx, (%rdi)\n jne 2f\n ret\n 2: mov %rax, %rdx\n jmp 1b");
// gcc -O0: the operand is on the stack.
PIECE(unoptimised, "mov -8(%rbp), %rcx\n mov (%rcx), %rdx\n 1: movq %rdx, %xmm0\n subsd -0x10(%rbp), %xmm0\n"
                   "movq %xmm0, %rsi\n mov %rdx, %rax\n lock cmpxchg %rsi, (%rcx)\n mov %rdx, %rsi\n mov %rax, %rdx\n"
                   "cmp %rsi, %rax\n jne 1b");
// gcc -O1: a float.
PIECE(of_float,
      "mov number(%rip), %edx\n 1: movd %edx, %xmm1\n mulss %xmm5, %xmm1\n movd %xmm1, %ecx\n mov %edx, %eax\n"
      "lock cmpxchg %ecx, number(%rip)\n jne 2f\n ret\n 2: mov %eax, %edx\n jmp 1b\n number: .quad 0");
// gfortran -O3: the address is copied, over the register by which the number was loaded.
PIECE(copied_address, "mov 0x20(%rsp), %rax\n mov (%rax), %rdx\n mov %rax, %rbx\n movq %rdx, %xmm5\n mov %rdx, %rax\n"
                      "maxsd %xmm3, %xmm5\n movq %xmm5, %rcx\n lock cmpxchg %rcx, (%rbx)");
// The same, but the address of the compare-and-exchange is there before.
PIECE(address_before, "lea 8(%rax), %rbx\n mov 8(%rax), %rdx\n movq %rdx, %xmm4\n mov %rdx, %rax\n addsd %xmm0, %xmm4\n"
                      "movq %xmm4, %rcx\n lock cmpxchg %rcx, (%rbx)");
// gcc -O3, with a constant.
PIECE(with_constant, "mov (%rcx), %rdx\n movsd number(%rip), %xmm1\n movq %rdx, %xmm0\n mov %rdx, %rax\n"
                     "addsd %xmm0, %xmm1\n movq %xmm1, %rsi\n lock cmpxchg %rsi, (%rcx)");
// clang -O2 for AVX, with the operands in the other order.
PIECE(avx,
      "mov (%rbx), %rax\n nopw (%rax,%rax,1)\n 1: vmovq %rax, %xmm1\n vaddsd %xmm1, %xmm0, %xmm2\n vmovq %xmm2, %rcx\n"
      "lock cmpxchg %rcx, (%rbx)\n jne 1b");

TEST(RealUpdatesTest, AreFoundAsCompilersMakeThem) {
    const auto only = [](const std::vector<RealUpdate>& found) {
        EXPECT_EQ(found.size(), 1u);
        return found.empty() ? RealUpdate{} : found.front();
    };
    const RealUpdate by_gcc = only(UPDATES_IN(gcc));
    EXPECT_EQ(by_gcc.load, gcc_begin);
    EXPECT_EQ(by_gcc.kind, Kind::real_add);
    EXPECT_EQ(by_gcc.bytes, 8);
    EXPECT_EQ(by_gcc.use, gcc_begin);
    EXPECT_EQ(by_gcc.loaded, 1U << REG_RDX);
    EXPECT_EQ(by_gcc.vector_register, 0);
    const RealUpdate without = only(UPDATES_IN(unoptimised));
    EXPECT_EQ(without.kind, Kind::real_subtract);
    EXPECT_EQ(without.vector_register, -1);
    EXPECT_EQ(without.variable.base, REG_RBP);
    EXPECT_EQ(without.variable.displacement, -0x10);
    const RealUpdate of_float = only(UPDATES_IN(of_float));
    EXPECT_EQ(of_float.kind, Kind::real_multiply);
    EXPECT_EQ(of_float.bytes, 4);
    EXPECT_EQ(of_float.vector_register, 5);
    const RealUpdate copied = only(UPDATES_IN(copied_address));
    EXPECT_EQ(copied.kind, Kind::real_maximum);
    EXPECT_EQ(copied.exchanged.base, REG_RAX);
    EXPECT_EQ(copied.exchanged.displacement, 0);
    const RealUpdate before = only(UPDATES_IN(address_before));
    EXPECT_EQ(before.exchanged.base, REG_RBX);
    EXPECT_EQ(before.exchanged.displacement, 0);
    const RealUpdate constant = only(UPDATES_IN(with_constant));
    EXPECT_EQ(constant.vector_register, -1);
    EXPECT_TRUE(constant.variable.known);
    EXPECT_EQ(constant.variable.base, -1);
    const RealUpdate by_clang = only(UPDATES_IN(avx));
    EXPECT_EQ(by_clang.kind, Kind::real_add);
    EXPECT_EQ(by_clang.vector_register, 0);
}

// gfortran -O3: the thread computes the operand between the load and the use of what it has found.
PIECE(computes, "mov (%rdi), %rsi\n mov %rsi, %rax\n addsd %xmm2, %xmm0\n 1: movq %rsi, %xmm7\n addsd %xmm0, %xmm7\n"
                "movq %xmm7, %r8\n lock cmpxchg %r8, (%rdi)\n jne 2f\n ret\n 2: mov %rax, %rsi\n jmp 1b");
// The same of a float; the address is copied, too, over the register that named it.
PIECE(computes_float, "mov 8(%rdi), %edx\n cvtsd2ss %xmm0, %xmm0\n lea 8(%rdi), %rbx\n mov (%rcx), %rdi\n"
                      "movd %edx, %xmm1\n mov %edx, %eax\n addss %xmm0, %xmm1\n movd %xmm1, %ecx\n"
                      "lock cmpxchg %ecx, (%rbx)");

TEST(RealUpdatesTest, TheLoadIsPutOffUntilTheOperandIsKnown) {
    const auto found = UPDATES_IN(computes);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].load, computes_begin);
    EXPECT_EQ(found[0].use, computes_begin + 3 + 3 + 4) << "what was copied to %rax before is loaded with it";
    EXPECT_EQ(found[0].loaded, 1U << REG_RSI | 1U << REG_RAX);
    EXPECT_EQ(found[0].vector_register, 0);
    EXPECT_EQ(found[0].exchanged.base, REG_RDI);
    gregset_t registers{};
    found[0].load_into(registers, 7);
    EXPECT_EQ(registers[REG_RSI], 7);
    EXPECT_EQ(registers[REG_RAX], 7);
    EXPECT_EQ(registers[REG_RDI], 0);

    const auto of_float = UPDATES_IN(computes_float);
    ASSERT_EQ(of_float.size(), 1u);
    EXPECT_EQ(of_float[0].loaded, 1U << REG_RDX);
    EXPECT_EQ(of_float[0].exchanged.base, REG_RBX);
    of_float[0].load_into(registers, std::uint64_t{5} << 32 | 3);
    EXPECT_EQ(registers[REG_RDX], 3) << "half of a register";
}

// gcc -O2 without enough registers: it stores some between the load and the exchange, and loads the address from there.
PIECE(spills,
      "mov (%rax), %ebx\n mov %edx, 0x18(%rsp)\n mov %ecx, 0x28(%rsp)\n 1: movd %ebx, %xmm3\n mov (%rsp), %rdx\n"
      "mov %ebx, %eax\n addss %xmm0, %xmm3\n movd %xmm3, %ecx\n lock cmpxchg %ecx, (%rdx)\n cmp %eax, %ebx\n"
      "jne 2f\n mov 0x18(%rsp), %edx\n mov 0x28(%rsp), %ecx\n xor %eax, %eax\n xor %ebx, %ebx\n"
      "xorps %xmm3, %xmm3\n ret\n 2: mov %eax, %ebx\n jmp 1b");
// The same, but it is tried once, or the operand is not there any more.
PIECE(spills_and_tries_once,
      "mov (%rax), %ebx\n mov %edx, 0x18(%rsp)\n movd %ebx, %xmm3\n mov %ebx, %eax\n"
      "addss %xmm0, %xmm3\n movd %xmm3, %ecx\n lock cmpxchg %ecx, (%rdx)\n jne 2f\n nop\n 2: ret");
PIECE(spills_and_overwrites,
      "mov (%rax), %ebx\n mov %edx, 0x18(%rsp)\n 1: movd %ebx, %xmm3\n mov %ebx, %eax\n addss %xmm3, %xmm0\n"
      "movd %xmm0, %ecx\n lock cmpxchg %ecx, (%rdx)\n je 2f\n mov %eax, %ebx\n jmp 1b\n 2: ret");
PIECE(spills_an_operand,
      "mov (%rax), %ebx\n mov %edx, 0x18(%rsp)\n 1: movd %ebx, %xmm3\n mov %ebx, %eax\n addss (%rsi), %xmm3\n"
      "mov 8(%rsi), %rsi\n movd %xmm3, %ecx\n lock cmpxchg %ecx, (%rdx)\n je 2f\n mov %eax, %ebx\n jmp 1b\n 2: ret");

TEST(RealUpdatesTest, WhereRegistersAreStoredTheUpdateIsMadeInPlaceOfTheExchange) {
    const auto found = UPDATES_IN(spills);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].use, found[0].exchange);
    EXPECT_EQ(found[0].vector_register, 0);
    EXPECT_EQ(found[0].kind, Kind::real_add);
    EXPECT_FALSE(found[0].uses_result(nullptr)) << "what was stored is no result";
    EXPECT_TRUE(UPDATES_IN(spills_and_tries_once).empty());
    EXPECT_TRUE(UPDATES_IN(spills_and_overwrites).empty());
    EXPECT_TRUE(UPDATES_IN(spills_an_operand).empty());
}

// A float and a double, which are combined as doubles: gcc -O2, gcc -O0, and gcc -O3 for AVX with the operand in
// memory.
PIECE(wide, "mov (%rdi), %ecx\n 1: movd %ecx, %xmm2\n pxor %xmm1, %xmm1\n pxor %xmm3, %xmm3\n mov %ecx, %eax\n"
            "cvtss2sd %xmm2, %xmm1\n addsd %xmm0, %xmm1\n cvtsd2ss %xmm1, %xmm3\n movd %xmm3, %edx\n"
            "lock cmpxchg %edx, (%rdi)\n jne 2f\n ret\n 2: mov %eax, %ecx\n jmp 1b");
PIECE(wide_unoptimised,
      "mov -8(%rbp), %rdx\n mov (%rdx), %ecx\n 1: movd %ecx, %xmm0\n cvtss2sd %xmm0, %xmm0\n"
      "mulsd -0x10(%rbp), %xmm0\n pxor %xmm1, %xmm1\n cvtsd2ss %xmm0, %xmm1\n movd %xmm1, %eax\n mov %eax, %esi\n"
      "mov %ecx, %eax\n lock cmpxchg %esi, (%rdx)");
PIECE(wide_avx, "mov (%rdi), %edx\n vmovsd (%rsi), %xmm5\n vmovd %edx, %xmm2\n mov %edx, %eax\n"
                "vcvtss2sd %xmm2, %xmm2, %xmm1\n vsubsd %xmm5, %xmm1, %xmm1\n vcvtsd2ss %xmm1, %xmm1, %xmm1\n"
                "vmovd %xmm1, %ecx\n lock cmpxchg %ecx, (%rdi)");
// It stays a double.
PIECE(not_narrowed, "mov (%rdi), %ecx\n movd %ecx, %xmm2\n mov %ecx, %eax\n cvtss2sd %xmm2, %xmm1\n"
                    "addsd %xmm0, %xmm1\n movd %xmm1, %edx\n lock cmpxchg %edx, (%rdi)");

TEST(RealUpdatesTest, AFloatMayBeCombinedWithADouble) {
    for (const auto& [found, kind] :
         {std::pair(UPDATES_IN(wide), Kind::real_add), std::pair(UPDATES_IN(wide_unoptimised), Kind::real_multiply),
          std::pair(UPDATES_IN(wide_avx), Kind::real_subtract)}) {
        ASSERT_EQ(found.size(), 1u);
        EXPECT_TRUE(found[0].is_wide);
        EXPECT_EQ(found[0].bytes, 4);
        EXPECT_EQ(found[0].kind, kind);
    }
    EXPECT_EQ(UPDATES_IN(wide)[0].vector_register, 0);
    EXPECT_EQ(UPDATES_IN(wide_avx)[0].variable.base, REG_RSI);
    EXPECT_TRUE(UPDATES_IN(not_narrowed).empty());

    _libc_fpstate vectors{};
    vectors.mxcsr = 0x1f80;
    const double operand = 1e-3;
    std::memcpy(&vectors._xmm[0], &operand, sizeof operand);
    mcontext_t context{};
    context.fpregs = &vectors;
    const dsm::WordChange change = UPDATES_IN(wide)[0].wanted(context);
    float number = 1.1F;
    change.make(reinterpret_cast<std::byte*>(&number));
    EXPECT_EQ(number, static_cast<float>(1.1F + operand)) << "rounded once";
    const auto both = change.and_then(change);
    ASSERT_TRUE(both && both->is_wide);
    EXPECT_EQ(std::bit_cast<double>(both->operand), 2 * operand);
    EXPECT_FALSE(change.and_then({Kind::real_add, 4, 0, 0x1f80})) << "of floats";
}

// What the thread would do by the old value besides, or what is not known before it uses it.
PIECE(decides,
      "mov (%rdi), %rdx\n movq %rdx, %xmm1\n comisd %xmm2, %xmm1\n ja 1f\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n"
      "movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)\n 1: ret");
PIECE(writes, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, (%rsi)\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n"
              "movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(calls, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n call calls_end\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n"
             "movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(of_two_operations,
      "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n mulsd %xmm2, %xmm1\n"
      "movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(one_of_two, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n movq %rdx, %xmm3\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n"
                  "mulsd %xmm2, %xmm3\n movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(of_itself, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n addsd %xmm1, %xmm1\n movq %xmm1, %rcx\n"
                 "lock cmpxchg %rcx, (%rdi)");
PIECE(operand_is_late,
      "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n cvtsi2sd %esi, %xmm0\n addsd %xmm0, %xmm1\n"
      "movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(address_is_late_too,
      "mov (%rdi), %rdx\n mov %rdx, %rax\n movq %rdx, %xmm1\n mov 8(%rdi), %rdi\n mulsd %xmm2, %xmm0\n"
      "addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(half_is_copied, "mov (%rdi), %rdx\n mov %edx, %eax\n addsd %xmm2, %xmm0\n movq %rdx, %xmm1\n"
                      "addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(operand_by_late_address,
      "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n mov 8(%rsi), %rsi\n"
      "movsd (%rsi), %xmm0\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(operand_of_other_length, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n movss (%rsi), %xmm0\n"
                               "addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(address_is_late, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov 8(%rdi), %rdi\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n"
                       "movq %xmm1, %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(expects_another, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rsi, %rax\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n"
                       "lock cmpxchg %rcx, (%rdi)");
PIECE(stores_another, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n"
                      "lock cmpxchg %rsi, (%rdi)");
PIECE(other_length, "mov (%rdi), %edx\n movd %edx, %xmm1\n mov %edx, %eax\n addsd %xmm0, %xmm1\n movd %xmm1, %ecx\n"
                    "lock cmpxchg %ecx, (%rdi)");
PIECE(half_is_expected, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %edx, %eax\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n"
                        "lock cmpxchg %rcx, (%rdi)");
PIECE(reversed, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n subsd %xmm1, %xmm0\n movq %xmm0, %rcx\n"
                "lock cmpxchg %rcx, (%rdi)");
PIECE(of_the_thread, "mov %fs:8, %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n"
                     "lock cmpxchg %rcx, %fs:8");
PIECE(of_integers, "mov (%rdi), %rdx\n mov %rdx, %rax\n lea 8(%rdx), %rcx\n lock cmpxchg %rcx, (%rdi)");
PIECE(without_lock, "mov (%rdi), %rdx\n movq %rdx, %xmm1\n mov %rdx, %rax\n addsd %xmm0, %xmm1\n movq %xmm1, %rcx\n"
                    "cmpxchg %rcx, (%rdi)");

TEST(RealUpdatesTest, NothingElseIsTakenForOne) {
    EXPECT_TRUE(UPDATES_IN(decides).empty());
    EXPECT_TRUE(UPDATES_IN(writes).empty());
    EXPECT_TRUE(UPDATES_IN(calls).empty());
    EXPECT_TRUE(UPDATES_IN(of_two_operations).empty());
    EXPECT_TRUE(UPDATES_IN(one_of_two).empty());
    EXPECT_TRUE(UPDATES_IN(of_itself).empty());
    EXPECT_TRUE(UPDATES_IN(operand_is_late).empty());
    EXPECT_TRUE(UPDATES_IN(address_is_late_too).empty());
    EXPECT_TRUE(UPDATES_IN(half_is_copied).empty());
    EXPECT_TRUE(UPDATES_IN(operand_by_late_address).empty());
    EXPECT_TRUE(UPDATES_IN(operand_of_other_length).empty());
    EXPECT_TRUE(UPDATES_IN(address_is_late).empty());
    EXPECT_TRUE(UPDATES_IN(expects_another).empty());
    EXPECT_TRUE(UPDATES_IN(stores_another).empty());
    EXPECT_TRUE(UPDATES_IN(other_length).empty());
    EXPECT_TRUE(UPDATES_IN(half_is_expected).empty());
    EXPECT_TRUE(UPDATES_IN(reversed).empty());
    EXPECT_TRUE(UPDATES_IN(of_the_thread).empty());
    EXPECT_TRUE(UPDATES_IN(of_integers).empty());
    EXPECT_TRUE(UPDATES_IN(without_lock).empty());
}

/// As XSAVE stores them, and as XSAVEC does without gaps.
TEST(RealUpdatesTest, TheOperandMayBeInAnyVectorRegister) {
    alignas(64) std::byte area[2816]{};
    mcontext_t context{};
    context.fpregs = reinterpret_cast<_libc_fpstate*>(area);
    RealUpdate update{};
    update.kind = Kind::real_add;
    update.bytes = 8;
    update.vector_register = 18;
    const double number = 2.5;
    constexpr std::uint64_t compacted = std::uint64_t{1} << 63, upper = 1U << 7;
    const auto store = [&area](std::size_t offset, const auto& value) {
        std::memcpy(area + offset, &value, sizeof value);
    };
    store(520, compacted);
    store(1408 + 2 * 64, number);
    EXPECT_EQ(update.wanted(context).operand, 0u) << "registers that are not stored are zeros";
    store(512, upper);
    EXPECT_EQ(std::bit_cast<double>(update.wanted(context).operand), number);
    update.vector_register = 15;
    store(160 + 15 * 16, number);
    EXPECT_EQ(std::bit_cast<double>(update.wanted(context).operand), number);
}

std::uint64_t in_handler; // NOLINT: the handler has no argument for it

TEST(RealUpdatesTest, ASignalHasAllVectorRegisters) {
    if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "the processor has no AVX-512";
    struct sigaction action{}, before{};
    action.sa_sigaction = [](int, siginfo_t*, void* given) {
        const mcontext_t& context = static_cast<ucontext_t*>(given)->uc_mcontext;
        in_handler = VectorRegisters(context).lowest(22, 8);
    };
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGTRAP, &action, &before), 0);
    const double number = 7.25;
    asm volatile("vmovapd %0, %%xmm22\n int3" : : "x"(number) : "memory");
    sigaction(SIGTRAP, &before, nullptr);
    EXPECT_EQ(std::bit_cast<double>(in_handler), number);
}

TEST(RealUpdatesTest, TheOperandAndTheRoundingAreThoseOfTheThread) {
    _libc_fpstate vectors{};
    vectors.mxcsr = 0xff80;
    const double in_register = 2.5;
    float in_memory[] = {0, 7.5F};
    std::memcpy(&vectors._xmm[9], &in_register, sizeof in_register);
    mcontext_t context{};
    context.fpregs = &vectors;
    context.gregs[REG_RSI] = reinterpret_cast<greg_t>(in_memory);
    RealUpdate update{};
    update.kind = Kind::real_add;
    update.bytes = 8;
    update.vector_register = 9;
    const dsm::WordChange of_register = update.wanted(context);
    EXPECT_EQ(std::bit_cast<double>(of_register.operand), in_register);
    EXPECT_EQ(of_register.expected, 0xff80u);
    update.bytes = 4;
    update.vector_register = -1;
    update.variable = {REG_RSI, -1, 0, 4, true};
    EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(update.wanted(context).operand)), 7.5F);
}

/// What a home makes of a number.
template <class Real>
Real changed(Kind kind, Real before, Real operand, std::uint64_t rounding = 0x1f80) {
    dsm::WordChange change{kind, sizeof(Real), 0, rounding};
    std::memcpy(&change.operand, &operand, sizeof operand);
    Real number = before;
    const std::uint64_t found = change.make(reinterpret_cast<std::byte*>(&number));
    EXPECT_EQ(std::memcmp(&found, &before, sizeof before), 0) << "the value before";
    return number;
}

template <class Real>
void calculate() {
    const Real large = std::numeric_limits<Real>::max(), none = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_EQ(changed<Real>(Kind::real_add, 1.5, 2), Real{3.5});
    EXPECT_EQ(changed<Real>(Kind::real_subtract, 1.5, 2), Real{-0.5});
    EXPECT_EQ(changed<Real>(Kind::real_multiply, 1.5, -2), Real{-3});
    EXPECT_EQ(changed<Real>(Kind::real_divide, 1.5, 2), Real{0.75});
    EXPECT_EQ(changed<Real>(Kind::real_minimum, 1.5, 2), Real{1.5});
    EXPECT_EQ(changed<Real>(Kind::real_maximum, 1.5, 2), Real{2});
    EXPECT_TRUE(std::isinf(changed<Real>(Kind::real_add, large, large)));
    EXPECT_TRUE(std::isnan(changed<Real>(Kind::real_add, 1, none)));
    EXPECT_EQ(changed<Real>(Kind::real_maximum, none, 2), Real{2}) << "the operand, as MAXSD has it";
    EXPECT_TRUE(std::isnan(changed<Real>(Kind::real_minimum, 2, none)));
}

TEST(RealUpdatesTest, HomesCalculateAsTheProcessorDoes) {
    calculate<double>();
    calculate<float>();
}

TEST(RealUpdatesTest, HomesRoundAsTheThreadDoes) {
    const double tiny = std::numeric_limits<double>::denorm_min(), small = std::numeric_limits<double>::epsilon() / 4;
    constexpr std::uint64_t up = 0x1f80 | 0x4000, to_zero = 0x1f80 | 0x8000;
    EXPECT_EQ(changed(Kind::real_add, 1.0, small), 1.0);
    EXPECT_GT(changed(Kind::real_add, 1.0, small, up), 1.0);
    EXPECT_EQ(changed(Kind::real_add, tiny, tiny), 2 * tiny);
    EXPECT_EQ(changed(Kind::real_add, tiny, tiny, to_zero), 0.0);
    EXPECT_EQ(_mm_getcsr() & 0xffc0U, 0x1f80U) << "of this thread";
}

} // namespace
} // namespace kumiki::openmp
