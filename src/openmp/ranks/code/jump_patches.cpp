#include "openmp/ranks/code/jump_patches.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cpuid.h>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <sys/mman.h>

#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

/// What write_call() leaves behind the call, where its return address points.
struct Call {
    void (*enter)();
    const std::byte* at;
    JumpPatches::Handler handler;
    const void* given;
};

// The numbers in enter_handler(), from the lower end of the thread's stack: the context, the flags, the address of the
// Call, and the red zone, which the thread may use below its stack.
static_assert(sizeof(mcontext_t) == 256 && offsetof(mcontext_t, fpregs) == 184);
static_assert(REG_R8 == 0 && REG_RDI == 8 && REG_RSI == 9 && REG_RBP == 10 && REG_RBX == 11 && REG_RDX == 12 &&
              REG_RAX == 13 && REG_RCX == 14 && REG_RSP == 15 && REG_RIP == 16 && REG_EFL == 17);
static_assert(offsetof(_libc_fpstate, _xmm) == 160);
static_assert(offsetof(Call, at) == 8 && offsetof(Call, handler) == 16 && offsetof(Call, given) == 24);

// The registers of the program, as a handler finds them in its context. The vector registers are stored behind one
// another as XSAVEC does: the legacy region, the header, whose 48 last bytes must be zeros, the upper halves of ymm,
// the masks, those of zmm0 to zmm15, and zmm16 to zmm31; 2432 bytes (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 1, 13.4 and 13.10). The handler reads xmm0 to xmm15 in any case.
#define KUMIKI_STORE_REGISTERS                                                                                         \
    "pushfq\n"                                                                                                         \
    "cld\n"                                                                                                            \
    "lea -256(%rsp), %rsp\n"                                                                                           \
    "mov %r8, 0(%rsp)\n mov %r9, 8(%rsp)\n mov %r10, 16(%rsp)\n mov %r11, 24(%rsp)\n"                                  \
    "mov %r12, 32(%rsp)\n mov %r13, 40(%rsp)\n mov %r14, 48(%rsp)\n mov %r15, 56(%rsp)\n"                              \
    "mov %rdi, 64(%rsp)\n mov %rsi, 72(%rsp)\n mov %rbp, 80(%rsp)\n mov %rbx, 88(%rsp)\n"                              \
    "mov %rdx, 96(%rsp)\n mov %rax, 104(%rsp)\n mov %rcx, 112(%rsp)\n"                                                 \
    "lea 400(%rsp), %rax\n" /* as it was in the program */                                                             \
    "mov %rax, 120(%rsp)\n"                                                                                            \
    "mov 256(%rsp), %rax\n" /* the flags */                                                                            \
    "mov %rax, 136(%rsp)\n"                                                                                            \
    "mov 264(%rsp), %r13\n" /* the Call */                                                                             \
    "mov 8(%r13), %rax\n"                                                                                              \
    "mov %rax, 128(%rsp)\n"                                                                                            \
    "mov %rsp, %rbx\n"                                                                                                 \
    ".cfi_signal_frame\n .cfi_def_cfa %rbx, 400\n .cfi_offset 16, -272\n" /* where the caller's registers are */       \
    ".cfi_offset %rbx, -312\n .cfi_offset %rbp, -320\n .cfi_offset %r12, -368\n .cfi_offset %r13, -360\n"              \
    ".cfi_offset %r14, -352\n .cfi_offset %r15, -344\n"                                                                \
    "lea -2432(%rsp), %rsp\n"                                                                                          \
    "and $-64, %rsp\n"                                                                                                 \
    "movaps %xmm0, 160(%rsp)\n movaps %xmm1, 176(%rsp)\n movaps %xmm2, 192(%rsp)\n movaps %xmm3, 208(%rsp)\n"          \
    "movaps %xmm4, 224(%rsp)\n movaps %xmm5, 240(%rsp)\n movaps %xmm6, 256(%rsp)\n movaps %xmm7, 272(%rsp)\n"          \
    "movaps %xmm8, 288(%rsp)\n movaps %xmm9, 304(%rsp)\n movaps %xmm10, 320(%rsp)\n movaps %xmm11, 336(%rsp)\n"        \
    "movaps %xmm12, 352(%rsp)\n movaps %xmm13, 368(%rsp)\n movaps %xmm14, 384(%rsp)\n movaps %xmm15, 400(%rsp)\n"      \
    "xor %eax, %eax\n"                                                                                                 \
    "mov %rax, 528(%rsp)\n mov %rax, 536(%rsp)\n mov %rax, 544(%rsp)\n"                                                \
    "mov %rax, 552(%rsp)\n mov %rax, 560(%rsp)\n mov %rax, 568(%rsp)\n"
#define KUMIKI_CALL_HANDLER                                                                                            \
    "mov %rsp, 184(%rbx)\n" /* fpregs */                                                                               \
    "mov %rbx, %rdi\n"                                                                                                 \
    "mov 24(%r13), %rsi\n"                                                                                             \
    "call *16(%r13)\n"
#define KUMIKI_GO_ON                                                                                                   \
    "mov %rbx, %rsp\n"                                                                                                 \
    "mov 136(%rsp), %rax\n"                                                                                            \
    "mov %rax, 256(%rsp)\n"                                                                                            \
    "mov 128(%rsp), %rax\n" /* where it goes on, in the place of the Call's address */                                 \
    "mov %rax, 264(%rsp)\n"                                                                                            \
    "mov 0(%rsp), %r8\n mov 8(%rsp), %r9\n mov 16(%rsp), %r10\n mov 24(%rsp), %r11\n"                                  \
    "mov 32(%rsp), %r12\n mov 40(%rsp), %r13\n mov 48(%rsp), %r14\n mov 56(%rsp), %r15\n"                              \
    "mov 64(%rsp), %rdi\n mov 72(%rsp), %rsi\n mov 80(%rsp), %rbp\n mov 88(%rsp), %rbx\n"                              \
    "mov 96(%rsp), %rdx\n mov 104(%rsp), %rax\n mov 112(%rsp), %rcx\n"                                                 \
    "lea 256(%rsp), %rsp\n"                                                                                            \
    "popfq\n"                                                                                                          \
    "ret $128\n"
#define KUMIKI_BY_XSAVE                                                                                                \
    "xor %edx, %edx\n"                                                                                                 \
    "mov $0xe7, %eax\n" /* without what a handler does not change */                                                   \
    "xsavec64 (%rsp)\n" KUMIKI_CALL_HANDLER "xor %edx, %edx\n"                                                         \
    "mov $0xe7, %eax\n"                                                                                                \
    "xrstor64 (%rsp)\n" KUMIKI_GO_ON

// NOLINTBEGIN(hicpp-no-assembler): no compiler saves the registers of a caller that has not called.

/// The thread comes here as the call in write_call() has left it.
[[gnu::naked]] void enter_handler() { asm(KUMIKI_STORE_REGISTERS KUMIKI_BY_XSAVE); }

#define KUMIKI_FOR_UPPER(DO)                                                                                           \
    DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31)
#define KUMIKI_STORE_UPPER(NAME) "vmovaps %zmm" #NAME ", 1408+(" #NAME "-16)*64(%rsp)\n"
#define KUMIKI_LOAD_UPPER(NAME) "vmovaps 1408+(" #NAME "-16)*64(%rsp), %zmm" #NAME "\n"
#define KUMIKI_ZERO_UPPER(NAME) "vpxord %zmm" #NAME ", %zmm" #NAME ", %zmm" #NAME "\n"
#define KUMIKI_FOR_MASKS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define KUMIKI_STORE_MASK(NAME) "kmovq %k" #NAME ", 832+" #NAME "*8(%rsp)\n"
#define KUMIKI_LOAD_MASK(NAME) "kmovq 832+" #NAME "*8(%rsp), %k" #NAME "\n"
#define KUMIKI_ZERO_MASK(NAME) "kxorq %k" #NAME ", %k" #NAME ", %k" #NAME "\n"

/// The same where the processor tells which of the registers have other than their first values (XGETBV with 1). XSAVEC
/// and XRSTOR take longer than moves (docs/decisions/shared-locks.md). If the upper halves of ymm or zmm0 to zmm15 are
/// in use (0x44), moves would need them, too; else these are zeros, and the handler's are cleared behind it. What the C
/// library's functions for memory and texts use, zmm16 to zmm31 (0x80) and the masks (0x20), is nearly always in use. A
/// handler does not touch the x87's registers.
[[gnu::naked]] void enter_handler_by_moves() {
    asm(KUMIKI_STORE_REGISTERS
        "mov $1, %ecx\n xgetbv\n"
        "test $0x44, %al\n"
        "jz 1f\n" KUMIKI_BY_XSAVE "1:\n"
        "mov %eax, %r12d\n"
        "stmxcsr 24(%rsp)\n"
        "and $0xa0, %eax\n or $3, %eax\n mov %rax, 512(%rsp)\n" // the header: what is stored, without gaps
        "movabs $0x80000000000000e7, %rax\n mov %rax, 520(%rsp)\n"
        "test $0x20, %r12b\n jz 2f\n" KUMIKI_FOR_MASKS(
            KUMIKI_STORE_MASK) "2:\n"
                               "test $0x80, %r12b\n jz 3f\n" KUMIKI_FOR_UPPER(
                                   KUMIKI_STORE_UPPER) "3:\n" KUMIKI_CALL_HANDLER
                                                       "mov $1, %ecx\n xgetbv\n mov %eax, %r13d\n" // what is in use now
                                                       "ldmxcsr 24(%rsp)\n"
                                                       "vzeroupper\n"
                                                       "movaps 160(%rsp), %xmm0\n movaps 176(%rsp), %xmm1\n movaps "
                                                       "192(%rsp), %xmm2\n movaps 208(%rsp), %xmm3\n"
                                                       "movaps 224(%rsp), %xmm4\n movaps 240(%rsp), %xmm5\n movaps "
                                                       "256(%rsp), %xmm6\n movaps 272(%rsp), %xmm7\n"
                                                       "movaps 288(%rsp), %xmm8\n movaps 304(%rsp), %xmm9\n movaps "
                                                       "320(%rsp), %xmm10\n movaps 336(%rsp), %xmm11\n"
                                                       "movaps 352(%rsp), %xmm12\n movaps 368(%rsp), %xmm13\n movaps "
                                                       "384(%rsp), %xmm14\n movaps 400(%rsp), %xmm15\n"
                                                       "test $0x20, %r12b\n jz 4f\n" KUMIKI_FOR_MASKS(
                                                           KUMIKI_LOAD_MASK) "jmp 5f\n"
                                                                             "4: test $0x20, %r13b\n jz "
                                                                             "5f\n" KUMIKI_FOR_MASKS(
                                                                                 KUMIKI_ZERO_MASK) "5:\n"
                                                                                                   "test $0x80, "
                                                                                                   "%r12b\n jz "
                                                                                                   "6f"
                                                                                                   "\n" KUMIKI_FOR_UPPER(
                                                                                                       KUMIKI_LOAD_UPPER) "jmp 7f\n"
                                                                                                                          "6: test $0x80, %r13b\n jz 7f\n" KUMIKI_FOR_UPPER(
                                                                                                                              KUMIKI_ZERO_UPPER) "7:\n" KUMIKI_GO_ON);
}

// NOLINTEND(hicpp-no-assembler)

constexpr std::size_t patch_bytes = JumpPatches::jump_bytes, distance_bytes = 4;
constexpr std::byte near_jump{0xe9}, ignored_prefix{0x2e};

/// Where a jump here, of whose distance only the first `free` bytes can be chosen, may lead. Nothing: outside memory.
std::optional<Reach> reach_of(const std::byte* jump_at, std::size_t free) {
    if (free >= distance_bytes) return Reach::around(jump_at);
    std::int32_t distance = 0;
    std::memcpy(&distance, jump_at + 1, sizeof distance);
    const auto chosen = (std::intptr_t{1} << (8 * free)) - 1;
    const auto behind = reinterpret_cast<std::intptr_t>(jump_at + patch_bytes);
    const std::intptr_t lowest = behind + (distance & ~chosen);
    if (lowest < 0) return {};
    return Reach{static_cast<std::uintptr_t>(behind), static_cast<std::uintptr_t>(lowest),
                 static_cast<std::uintptr_t>(lowest + chosen)};
}

/// How the processor can save its vector registers, if the system lets it.
struct Saving {
    bool is_compact = false; ///< in a known number of bytes (XSAVEC)
    bool tells_use = false;  ///< it tells which are in use, and it has AVX

    static Saving of_processor() {
        constexpr unsigned xsavec = 2, xgetbv_of_use = 4;
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return {};
        const bool has_avx = (c & bit_AVX) != 0;
        if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d) == 0) return {};
        return {(a & xsavec) != 0, has_avx && (a & xgetbv_of_use) != 0};
    }
};

/// A virtual machine takes microseconds to tell.
const Saving& saving() {
    static const Saving of_this_one = Saving::of_processor();
    return of_this_one;
}

/// Whether the thread may come to the second byte of the instruction, too: code by hand jumps over the prefix `lock`.
bool has_two_beginnings(std::span<const std::byte> code, const std::byte* at) {
    if (at - code.data() < 2) return false;
    constexpr std::byte always{0xeb}, conditional{0x70}, over_one{1};
    return at[-1] == over_one && (at[-2] == always || (at[-2] & std::byte{0xf0}) == conditional);
}

} // namespace

Reach Reach::around(const void* code) {
    constexpr std::uintptr_t far = std::uintptr_t{3} << 29;
    const auto at = reinterpret_cast<std::uintptr_t>(code);
    return {at, at < far ? 0 : at - far, at + far};
}

std::byte* map_within(const Reach& reach, std::size_t bytes) {
    constexpr std::size_t most_tries = 128, longest_step = std::size_t{1} << 24;
    const std::size_t page = platform::page_size();
    const std::uintptr_t lowest = platform::round_up(reach.lowest, page), highest = reach.highest / page * page;
    if (lowest > highest) return nullptr;
    const std::size_t step = std::clamp((highest - lowest) / most_tries / page * page, page, longest_step);
    const std::uintptr_t begin = std::clamp(reach.nearest / page * page, lowest, highest);
    const auto map_at = [&](std::uintptr_t wish) -> std::byte* {
        auto* const there = reinterpret_cast<void*>(wish); // NOLINT(performance-no-int-to-ptr)
        void* const got =
            mmap(there, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == there) return static_cast<std::byte*>(got);
        if (got != MAP_FAILED) munmap(got, bytes);
        return nullptr;
    };
    for (std::size_t away = 0; away <= highest - lowest; away += step) {
        if (begin - lowest >= away)
            if (std::byte* const got = map_at(begin - away)) return got;
        if (highest - begin >= away)
            if (std::byte* const got = map_at(begin + away)) return got;
    }
    return nullptr;
}

bool JumpPatches::possible() { return saving().is_compact; }

void JumpPatches::write_call(std::byte* place, const std::byte* at, Handler handler, const void* given) {
    constexpr std::array<unsigned char, 11> code{0x48, 0x8d, 0x64, 0x24, 0x80,        // lea -128(%rsp), %rsp
                                                 0xff, 0x15, 0x00, 0x00, 0x00, 0x00}; // call *0(%rip)
    const Call call{saving().tells_use ? enter_handler_by_moves : enter_handler, at, handler, given};
    static_assert(sizeof code + sizeof call <= call_bytes);
    std::memcpy(place, code.data(), sizeof code);
    std::memcpy(place + sizeof code, &call, sizeof call);
}

namespace {

constexpr std::size_t detour_bytes = 58;

/// What is before a call that may be avoided. It changes no register, no flag, and nothing below the stack.
void write_detour(std::byte* at, const JumpPatches::Detour& detour) {
    constexpr std::array<unsigned char, 33> code{
        0x48, 0x8d, 0x64, 0x24, 0x80,                // lea -128(%rsp), %rsp
        0x51,                                        // push %rcx
        0x48, 0x8b, 0x0d, 0x14, 0x00, 0x00, 0x00,    // mov 20(%rip), %rcx: `taken`
        0x0f, 0xb6, 0x09,                            // movzbl (%rcx), %ecx
        0xe3, 0x1f,                                  // jrcxz 31: to `call`
        0x59,                                        // pop %rcx
        0x48, 0x8d, 0xa4, 0x24, 0x80, 0,    0,    0, // lea 128(%rsp), %rsp
        0xff, 0x25, 0x08, 0x00, 0x00, 0x00};         // jmp *8(%rip): `to`
    constexpr std::array<unsigned char, 9> call{0x59, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0}; // the same
    static_assert(code.size() + sizeof detour + call.size() == detour_bytes);
    std::memcpy(at, code.data(), code.size());
    std::memcpy(at + code.size(), &detour, sizeof detour);
    std::memcpy(at + code.size() + sizeof detour, call.data(), call.size());
}

} // namespace

void JumpPatches::write_jump(std::byte* place, const std::byte* to) {
    const auto distance = static_cast<std::int32_t>(to - (place + jump_bytes));
    *place = near_jump;
    std::memcpy(place + 1, &distance, sizeof distance);
}

bool JumpPatches::replace(std::span<const std::byte> code, std::span<std::byte> instruction, Handler handler,
                          const void* given, const std::optional<Detour>& detour) {
    if (!possible() || has_two_beginnings(code, instruction.data())) return false;
    // With prefixes before the jump, other bytes of those behind it end its distance.
    for (std::size_t prefixes = 0; prefixes + 2 <= std::min(instruction.size(), patch_bytes); ++prefixes) {
        std::byte* const jump_at = instruction.data() + prefixes;
        if (jump_at + patch_bytes > code.data() + code.size()) return false;
        const std::size_t free = std::min(instruction.size() - prefixes - 1, distance_bytes);
        const auto reach = reach_of(jump_at, free);
        if (!reach) continue;
        const std::size_t before = detour ? detour_bytes : 0;
        std::byte* const place = place_within(*reach, before + call_bytes);
        if (place == nullptr) continue;
        if (detour) write_detour(place, *detour);
        write_call(place + before, instruction.data(), handler, given);
        const auto distance = static_cast<std::int32_t>(place - (jump_at + patch_bytes));
        std::fill(instruction.data(), jump_at, ignored_prefix);
        *jump_at = near_jump;
        std::memcpy(jump_at + 1, &distance, free);
        return true;
    }
    return detour && replace(code, instruction, handler, given);
}

std::byte* JumpPatches::place_within(const Reach& reach, std::size_t bytes) {
    const std::size_t page = platform::page_size();
    const auto in_page = [&](std::uintptr_t begin, std::size_t& used) -> std::byte* {
        const std::uintptr_t place = std::max(begin + used, reach.lowest);
        if (place > reach.highest || place + bytes > begin + page) return nullptr;
        used = place + bytes - begin;
        return reinterpret_cast<std::byte*>(place); // NOLINT(performance-no-int-to-ptr)
    };
    const auto first = pages_.lower_bound(reach.lowest / page * page);
    for (auto each = first; each != pages_.end() && each->first <= reach.highest; ++each)
        if (std::byte* const place = in_page(each->first, each->second)) return place;
    if (pages_.size() == most_pages) return nullptr;
    const std::uintptr_t lowest = reach.lowest / page * page;
    const bool has_room = reach.lowest + bytes <= lowest + page;
    const std::byte* const got = map_within({reach.nearest, has_room ? lowest : lowest + page, reach.highest}, page);
    if (got == nullptr) return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(got);
    return in_page(begin, pages_[begin]);
}

Result<> JumpPatches::finish() {
    for (const auto& [begin, used] : pages_)
        if (mprotect(reinterpret_cast<void*>(begin), platform::page_size(), // NOLINT(performance-no-int-to-ptr)
                     PROT_READ | PROT_EXEC) != 0)
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        fmt::format("cannot execute code in the place of atomic instructions (mprotect: {})",
                                    std::strerror(errno)));
    return {};
}

} // namespace kumiki::openmp
