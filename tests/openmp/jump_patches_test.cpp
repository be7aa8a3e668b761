// Instructions of every length are replaced by calls of a handler, before others that they must not disturb, and keep
// all registers.
#include "openmp/ranks/code/jump_patches.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <tuple>
#include <vector>

#include "openmp/ranks/code/writable_code.hpp"

namespace kumiki::openmp {
namespace {

/// What a thread has in its registers. The numbers in run() are the offsets.
struct State {
    std::array<std::uint64_t, 14> general; ///< rax, rbx, rcx, rdx, rsi, rbp, r8 to r15
    std::uint64_t rdi;
    std::uint64_t flags;
    std::array<std::array<std::uint64_t, 4>, 16> vector;
    std::array<std::uint64_t, 16> below_stack; ///< the red zone
    std::uint64_t has_upper_halves;            ///< of `vector`; else they are zeros
    std::uint64_t has_avx, has_avx512;
    std::array<std::array<std::uint64_t, 8>, 16> further; ///< zmm16 to zmm31
    std::array<std::uint64_t, 8> masks;
    std::uint64_t loads_further; ///< and the masks; else these keep their first values
};
static_assert(offsetof(State, rdi) == 112 && offsetof(State, flags) == 120 && offsetof(State, vector) == 128 &&
              offsetof(State, below_stack) == 640 && offsetof(State, has_upper_halves) == 768 &&
              offsetof(State, has_avx) == 776 && offsetof(State, has_avx512) == 784 &&
              offsetof(State, further) == 792 && offsetof(State, masks) == 1816 &&
              offsetof(State, loads_further) == 1880);

#define FOR_VECTORS(DO)                                                                                                \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define LOAD_XMM(N) "movups 128+" #N "*32(%rdi), %xmm" #N "\n"
#define LOAD_YMM(N) "vmovups 128+" #N "*32(%rdi), %ymm" #N "\n"
#define STORE_XMM(N) "movups %xmm" #N ", 128+" #N "*32(%rdi)\n"
#define STORE_YMM(N) "vmovups %ymm" #N ", 128+" #N "*32(%rdi)\n"
#define FOR_FURTHER(DO)                                                                                                \
    DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31)
#define LOAD_ZMM(N) "vmovups 792+(" #N "-16)*64(%rdi), %zmm" #N "\n"
#define STORE_ZMM(N) "vmovups %zmm" #N ", 792+(" #N "-16)*64(%rdi)\n"
#define FOR_MASKS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define LOAD_MASK(N) "kmovq 1816+" #N "*8(%rdi), %k" #N "\n"
#define STORE_MASK(N) "kmovq %k" #N ", 1816+" #N "*8(%rdi)\n"
#define LOAD_BELOW(N) "mov 640+" #N "*8(%rdi), %rax\n mov %rax, -128+" #N "*8(%rsp)\n"
#define STORE_BELOW(N) "mov -128+" #N "*8(%rsp), %rax\n mov %rax, 640+" #N "*8(%rdi)\n"

/// Loads the registers from the state, executes what lies at jump_patches_place, and stores the registers.
[[gnu::naked]] void run(State&) {
    // clang-format off
    asm("push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "push %rdi\n"
        "cmpq $0, 1880(%rdi)\n je 3f\n" FOR_FURTHER(LOAD_ZMM) FOR_MASKS(LOAD_MASK) "3:\n"
        "cmpq $0, 776(%rdi)\n je 1f\n vzeroupper\n"
        "cmpq $0, 768(%rdi)\n je 1f\n" FOR_VECTORS(LOAD_YMM) "jmp 2f\n 1:" FOR_VECTORS(LOAD_XMM) "2:\n"
        "push 120(%rdi)\n popfq\n" FOR_VECTORS(LOAD_BELOW)
        "mov 0(%rdi), %rax\n mov 8(%rdi), %rbx\n mov 16(%rdi), %rcx\n mov 24(%rdi), %rdx\n mov 32(%rdi), %rsi\n"
        "mov 40(%rdi), %rbp\n mov 48(%rdi), %r8\n mov 56(%rdi), %r9\n mov 64(%rdi), %r10\n mov 72(%rdi), %r11\n"
        "mov 80(%rdi), %r12\n mov 88(%rdi), %r13\n mov 96(%rdi), %r14\n mov 104(%rdi), %r15\n mov 112(%rdi), %rdi\n"
        ".global jump_patches_place\n jump_patches_place: .fill 32, 1, 0x90\n"
        "xchg %rdi, (%rsp)\n"
        "mov %rax, 0(%rdi)\n mov %rbx, 8(%rdi)\n mov %rcx, 16(%rdi)\n mov %rdx, 24(%rdi)\n mov %rsi, 32(%rdi)\n"
        "mov %rbp, 40(%rdi)\n mov %r8, 48(%rdi)\n mov %r9, 56(%rdi)\n mov %r10, 64(%rdi)\n mov %r11, 72(%rdi)\n"
        "mov %r12, 80(%rdi)\n mov %r13, 88(%rdi)\n mov %r14, 96(%rdi)\n mov %r15, 104(%rdi)\n" FOR_VECTORS(STORE_BELOW)
        "pushfq\n pop 120(%rdi)\n pop %rax\n mov %rax, 112(%rdi)\n"
        "cmpq $0, 784(%rdi)\n je 3f\n" FOR_FURTHER(STORE_ZMM) FOR_MASKS(STORE_MASK) "3:\n"
        "cmpq $0, 776(%rdi)\n je 1f\n" FOR_VECTORS(STORE_YMM) "vzeroupper\n jmp 2f\n 1:" FOR_VECTORS(STORE_XMM) "2:\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret");
    // clang-format on
}
extern "C" std::byte jump_patches_place[32];

struct Expected {
    State state;
    std::byte* next;
    int calls;
};

/// Finds what the program has in its registers, and changes what a handler may change.
void handle(mcontext_t& context, const void* given) {
    auto& expected = *static_cast<Expected*>(const_cast<void*>(given)); // NOLINT(cppcoreguidelines-pro-type-const-cast)
    ++expected.calls;
    auto& registers = context.gregs;
    constexpr std::array names{REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RBP, REG_R8,
                               REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (std::size_t each = 0; each < names.size(); ++each)
        EXPECT_EQ(static_cast<std::uint64_t>(registers[names[each]]), expected.state.general[each]) << each;
    EXPECT_EQ(static_cast<std::uint64_t>(registers[REG_RDI]), expected.state.rdi);
    std::array<void*, 16> callers{};
    const int count = backtrace(callers.data(), static_cast<int>(callers.size()));
    void* const at = reinterpret_cast<void*>(registers[REG_RIP]); // NOLINT(performance-no-int-to-ptr)
    EXPECT_NE(std::ranges::find(callers.begin(), callers.begin() + count, at), callers.begin() + count);
    EXPECT_EQ(static_cast<std::uint64_t>(registers[REG_EFL]), expected.state.flags);
    for (std::size_t each = 0; each < 16; ++each)
        EXPECT_EQ(std::memcmp(&context.fpregs->_xmm[each], &expected.state.vector[each], 16), 0) << each;
    for (std::size_t each = 0; each < names.size(); ++each) registers[names[each]] += 1000;
    registers[REG_RDI] += 1000;
    registers[REG_EFL] ^= 1; // carry
    registers[REG_RIP] = reinterpret_cast<greg_t>(expected.next);
    if (expected.state.has_avx != 0) asm volatile("vcmpps $15, %%ymm0, %%ymm0, %%ymm3" ::: "xmm3"); // all bits
    else asm volatile("pcmpeqd %%xmm3, %%xmm3" ::: "xmm3");
    if (expected.state.has_avx512 != 0) asm volatile("vpternlogd $255, %zmm20, %zmm20, %zmm20\n kxnorq %k3, %k3, %k3");
}

/// What XRSTOR loads where all registers have their first values.
alignas(64) constexpr auto first_values = [] {
    std::array<unsigned, 1024> area{};
    area[6] = 0x1f80; // MXCSR, which masks the exceptions
    return area;
}();

/// Gives zmm16 to zmm31, the masks, and the upper halves of the others their first values, as the processor knows. It
/// has no variables of its own, which a sanitizer would mark by such registers.
void clear_further(const State& state) {
    if (state.has_avx512 != 0) asm volatile("xrstor64 %0" ::"m"(first_values), "a"(0xe4), "d"(0));
}

enum class InUse : std::uint8_t { nothing, lower, upper, all };

State made_up(std::mt19937_64& random, InUse in_use) {
    const bool is_zero = in_use == InUse::nothing;
    State state{};
    for (auto& each : state.general) each = random();
    state.rdi = random();
    state.flags = 0x202 | (random() & 0x8d5);
    if (!is_zero)
        for (auto& each : state.vector)
            for (auto& part : each) part = random();
    for (auto& each : state.below_stack) each = random();
    state.has_avx = __builtin_cpu_supports("avx") != 0 ? 1 : 0;
    state.has_avx512 = __builtin_cpu_supports("avx512bw") != 0 ? 1 : 0;
    state.has_upper_halves = in_use >= InUse::upper ? state.has_avx : 0;
    state.loads_further = in_use == InUse::all ? state.has_avx512 : 0;
    if (state.loads_further != 0) {
        for (auto& each : state.further)
            for (auto& part : each) part = random();
        for (auto& each : state.masks) each = random();
    }
    if (state.has_upper_halves == 0)
        for (auto& each : state.vector) each[2] = each[3] = 0;
    return state;
}

const auto place = std::span(jump_patches_place); // NOLINT(bugprone-throwing-static-initialization)
const std::vector<unsigned char> fillings[] = {
    {0x48, 0x89, 0xc0}, {0x88, 0xc9, 0x88, 0xd2}, {0x0f, 0x1f, 0x00}, {0x90}};

/// An instruction of this length, of which nothing is executed, and behind it the others, which do nothing.
void write_code(std::size_t bytes, const std::vector<unsigned char>& behind) {
    for (std::byte& each : place) each = std::byte{0x90};
    for (std::size_t each = 0; each < bytes; ++each) place[each] = std::byte{0x06}; // no instruction
    std::memcpy(place.data() + bytes, behind.data(), behind.size());
}

TEST(JumpPatches, KeepWhatTheHandlerDoesNotChange) {
    if (!JumpPatches::possible()) GTEST_SKIP() << "this processor has no XSAVEC";
    std::mt19937_64 random(1);
    for (std::size_t bytes = 2; bytes <= 9; ++bytes)
        for (const auto& behind : fillings)
            for (const InUse in_use : {InUse::nothing, InUse::lower, InUse::upper, InUse::all}) {
                SCOPED_TRACE(testing::Message() << bytes << " bytes before " << int{behind[0]});
                Expected expected{made_up(random, in_use), place.data() + bytes, 0};
                std::array<std::byte, 32> before{};
                bool is_replaced = false;
                JumpPatches patches;
                ASSERT_TRUE(change_code(place, [&] {
                    write_code(bytes, behind);
                    std::ranges::copy(place, before.begin());
                    is_replaced = patches.replace(place, place.first(bytes), handle, &expected);
                }));
                ASSERT_TRUE(patches.finish());
                EXPECT_TRUE(is_replaced || bytes == 2); // then there are 256 places, which others may have
                if (!is_replaced) continue;
                EXPECT_TRUE(std::ranges::equal(place.subspan(bytes), std::span(before).subspan(bytes)));
                State state = expected.state;
                clear_further(state);
                run(state);
                EXPECT_EQ(expected.calls, 1);
                for (std::size_t each = 0; each < state.general.size(); ++each)
                    EXPECT_EQ(state.general[each], expected.state.general[each] + 1000) << each;
                EXPECT_EQ(state.rdi, expected.state.rdi + 1000);
                EXPECT_EQ(state.flags, expected.state.flags ^ 1);
                EXPECT_EQ(state.vector, expected.state.vector);
                EXPECT_EQ(state.further, expected.state.further);
                EXPECT_EQ(state.masks, expected.state.masks);
                EXPECT_EQ(state.below_stack, expected.state.below_stack);
            }
}

// Two instructions of four bytes side by side: the jump of the first one has bytes of the second one's.
TEST(JumpPatches, NeighboursAreReplacedFromTheLastOne) {
    if (!JumpPatches::possible()) GTEST_SKIP() << "this processor has no XSAVEC";
    std::mt19937_64 random(2);
    JumpPatches patches;
    Expected second{made_up(random, InUse::all), place.data() + 8, 0};
    Expected first{second.state, place.data() + 4, 0};
    for (auto& each : first.state.general) each -= 1000;
    first.state.rdi -= 1000;
    first.state.flags ^= 1;
    ASSERT_TRUE(change_code(place, [&] {
        write_code(8, {0x90});
        EXPECT_TRUE(patches.replace(place, place.subspan(4, 4), handle, &second));
        EXPECT_TRUE(patches.replace(place, place.first(4), handle, &first));
    }));
    ASSERT_TRUE(patches.finish());
    State state = first.state;
    run(state);
    EXPECT_EQ(std::tuple(first.calls, second.calls), std::tuple(1, 1));
    EXPECT_EQ(state.rdi, second.state.rdi + 1000);
}

TEST(JumpPatches, ADetourLeadsPastTheHandler) {
    if (!JumpPatches::possible()) GTEST_SKIP() << "this processor has no XSAVEC";
    std::mt19937_64 random(3);
    std::atomic<std::uint8_t> is_taken{1};
    JumpPatches patches;
    Expected expected{made_up(random, InUse::all), place.data() + 6, 0};
    ASSERT_TRUE(change_code(place, [&] {
        write_code(6, {0x90});
        EXPECT_TRUE(patches.replace(place, place.first(6), handle, &expected,
                                    JumpPatches::Detour{&is_taken, place.data() + 6}));
    }));
    ASSERT_TRUE(patches.finish());
    State state = expected.state;
    run(state);
    EXPECT_EQ(expected.calls, 0);
    EXPECT_EQ(std::memcmp(&state, &expected.state, sizeof state), 0) << "it has changed something";
    is_taken = 0;
    state = expected.state;
    run(state);
    EXPECT_EQ(expected.calls, 1);
    EXPECT_EQ(state.rdi, expected.state.rdi + 1000);
    EXPECT_EQ(state.flags, expected.state.flags ^ 1);
    EXPECT_EQ(state.below_stack, expected.state.below_stack);
}

TEST(JumpPatches, LeaveCodeAloneThatHasTwoBeginnings) {
    JumpPatches patches;
    ASSERT_TRUE(change_code(place, [&] {
        write_code(0, {0x74, 0x01, 0xf0, 0x48, 0x0f, 0xb1, 0x0f}); // je 1f; lock; 1: cmpxchg %rcx, (%rdi)
        EXPECT_FALSE(patches.replace(place, place.subspan(2, 5), handle, nullptr));
        EXPECT_FALSE(patches.replace(place, place.last(3), handle, nullptr)) << "the jump would end behind the code";
    }));
}

TEST(JumpPatches, MemoryWithinReach) {
    const Reach around = Reach::around(place.data());
    std::byte* const got = map_within(around, 10'000);
    ASSERT_NE(got, nullptr);
    const auto at = reinterpret_cast<std::uintptr_t>(got);
    EXPECT_GE(at, around.lowest);
    EXPECT_LE(at, around.highest);
    EXPECT_EQ(map_within({at, at, at}, 4096), nullptr) << "it is taken";
    munmap(got, 10'000);
}

} // namespace
} // namespace kumiki::openmp
