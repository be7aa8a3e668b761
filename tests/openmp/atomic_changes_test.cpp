// Atomic instructions that another rank carries out do to the variable, the registers and the flags what the processor
// does.
#include "openmp/ranks/code/atomic_changes.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace kumiki::openmp {
namespace {

// Each instruction changes what %rbx points to, with %rcx as its operand and %rax as the accumulator.
#define INSTRUCTION(NAME, CODE)                                                                                        \
    asm(".pushsection .text\n" #NAME ": " CODE "\n ret\n.popsection");                                                 \
    extern "C" std::byte NAME[]

INSTRUCTION(add_8, "lock addq %rcx, (%rbx)");
INSTRUCTION(add_4, "lock addl %ecx, (%rbx)");
INSTRUCTION(add_number, "lock addq $-3, (%rbx)");
INSTRUCTION(add_number_4, "lock addl $0x12345678, (%rbx)");
INSTRUCTION(subtract_8, "lock subq %rcx, (%rbx)");
INSTRUCTION(subtract_4, "lock subl %ecx, (%rbx)");
INSTRUCTION(increment_8, "lock incq (%rbx)");
INSTRUCTION(increment_4, "lock incl (%rbx)");
INSTRUCTION(decrement_8, "lock decq (%rbx)");
INSTRUCTION(decrement_4, "lock decl (%rbx)");
INSTRUCTION(and_8, "lock andq %rcx, (%rbx)");
INSTRUCTION(or_4, "lock orl %ecx, (%rbx)");
INSTRUCTION(xor_8, "lock xorq %rcx, (%rbx)");
INSTRUCTION(exchange_8, "xchgq %rcx, (%rbx)");
INSTRUCTION(exchange_4, "xchgl %ecx, (%rbx)");
INSTRUCTION(exchange_add_8, "lock xaddq %rcx, (%rbx)");
INSTRUCTION(exchange_add_4, "lock xaddl %ecx, (%rbx)");
INSTRUCTION(compare_exchange_8, "lock cmpxchgq %rcx, (%rbx)");
INSTRUCTION(compare_exchange_4, "lock cmpxchgl %ecx, (%rbx)");
INSTRUCTION(of_a_byte, "lock addb %cl, (%rbx)");
INSTRUCTION(of_a_half, "lock xaddw %cx, (%rbx)");
INSTRUCTION(of_two_words, "lock cmpxchg16b (%rbx)");
INSTRUCTION(of_a_bit, "lock btsq %rcx, (%rbx)");
INSTRUCTION(fence, "mfence");

std::optional<AtomicChange> change_of(std::byte* at) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    Decoded decoded;
    decoded.at = at;
    EXPECT_TRUE(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, at, 16, &decoded.instruction, decoded.operands)));
    return AtomicChange::of(decoded);
}

/// What an instruction works on. Flags: those of arithmetic.
struct State {
    std::uint64_t accumulator, operand, flags;
    std::uint64_t variable[2];
    friend bool operator==(const State&, const State&) = default;
    friend void PrintTo(const State& state, std::ostream* out) {
        *out << std::hex << "rax " << state.accumulator << " rcx " << state.operand << " flags " << state.flags
             << " variable " << state.variable[0] << " and behind it " << state.variable[1];
    }
};

constexpr std::uint64_t compared = 0x8c5; ///< without the auxiliary carry, which logical instructions leave open

void execute(const std::byte* code, State& state) {
    std::uint64_t flags = 0;
    // The red zone is left alone.
    asm volatile("lea -128(%%rsp), %%rsp\n\t"
                 "pushfq\n\tandq $~0x8d5, (%%rsp)\n\torq %[set], (%%rsp)\n\tpopfq\n\t"
                 "call *%[code]\n\t"
                 "pushfq\n\tpopq %[flags]\n\t"
                 "lea 128(%%rsp), %%rsp"
                 : "+a"(state.accumulator), "+c"(state.operand), [flags] "=&r"(flags)
                 : "b"(state.variable), [code] "r"(code), [set] "r"(state.flags)
                 : "memory", "cc");
    state.flags = flags & compared;
}

void emulate(const AtomicChange& change, State& state) {
    gregset_t registers{};
    registers[REG_RAX] = static_cast<greg_t>(state.accumulator);
    registers[REG_RCX] = static_cast<greg_t>(state.operand);
    registers[REG_EFL] = static_cast<greg_t>(state.flags | 0x202);
    const auto wanted = change.wanted(registers);
    change.finish(wanted.make(reinterpret_cast<std::byte*>(state.variable)), registers);
    state.accumulator = static_cast<std::uint64_t>(registers[REG_RAX]);
    state.operand = static_cast<std::uint64_t>(registers[REG_RCX]);
    EXPECT_EQ(registers[REG_EFL] & 0x202, 0x202) << "other flags stay";
    state.flags = static_cast<std::uint64_t>(registers[REG_EFL]) & compared;
}

TEST(AtomicChangesTest, DoWhatTheProcessorDoes) {
    std::mt19937_64 random(3);
    const auto value = [&random]() -> std::uint64_t {
        constexpr std::uint64_t special[] = {0,
                                             1,
                                             2,
                                             0x7fff'ffff,
                                             0x8000'0000,
                                             0xffff'ffff,
                                             0x1'0000'0000,
                                             0x7fff'ffff'ffff'ffff,
                                             0x8000'0000'0000'0000,
                                             ~std::uint64_t{0}};
        return random() % 3 == 0 ? random() : special[random() % std::size(special)];
    };
    for (std::byte* const code : {add_8, add_4, add_number, add_number_4, subtract_8, subtract_4, increment_8,
                                  increment_4, decrement_8, decrement_4, and_8, or_4, xor_8, exchange_8, exchange_4,
                                  exchange_add_8, exchange_add_4, compare_exchange_8, compare_exchange_4}) {
        const auto change = change_of(code);
        ASSERT_TRUE(change);
        for (int round = 0; round < 2000; ++round) {
            State state{value(), value(), random() & compared, {value(), value()}};
            if (random() % 2 == 0) state.accumulator = state.variable[0];
            State emulated = state;
            const State before = state;
            execute(code, state);
            emulate(*change, emulated);
            ASSERT_EQ(emulated, state) << "instruction " << static_cast<const void*>(code) << " of "
                                       << testing::PrintToString(before);
        }
    }
}

TEST(AtomicChangesTest, OtherInstructionsAreLeftToTheThread) {
    for (std::byte* const code : {of_a_byte, of_a_half, of_two_words, of_a_bit, fence}) EXPECT_FALSE(change_of(code));
}

} // namespace
} // namespace kumiki::openmp
