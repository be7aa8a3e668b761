#include "platform/system_call.hpp"

#include <linux/audit.h>

// long kumiki_repeat_system_call(long number, const long arguments[6])
#if defined(__x86_64__)
#define KUMIKI_REPEAT_SYSTEM_CALL                                                                                      \
    "mov %rdi, %rax\n"                                                                                                 \
    "mov 0(%rsi), %rdi\n"                                                                                              \
    "mov 16(%rsi), %rdx\n"                                                                                             \
    "mov 24(%rsi), %r10\n"                                                                                             \
    "mov 32(%rsi), %r8\n"                                                                                              \
    "mov 40(%rsi), %r9\n"                                                                                              \
    "mov 8(%rsi), %rsi\n"                                                                                              \
    "syscall\n"
#elif defined(__aarch64__)
#define KUMIKI_REPEAT_SYSTEM_CALL                                                                                      \
    "mov x8, x0\n"                                                                                                     \
    "mov x9, x1\n"                                                                                                     \
    "ldp x0, x1, [x9]\n"                                                                                               \
    "ldp x2, x3, [x9, #16]\n"                                                                                          \
    "ldp x4, x5, [x9, #32]\n"                                                                                          \
    "svc #0\n"
#endif

#ifdef KUMIKI_REPEAT_SYSTEM_CALL
asm(R"(
    .pushsection .text
    .hidden kumiki_repeat_system_call
    .globl kumiki_repeat_system_call
    .type kumiki_repeat_system_call, %function
    .hidden kumiki_system_call_repeated
    .globl kumiki_system_call_repeated
kumiki_repeat_system_call:
    .cfi_startproc
)" KUMIKI_REPEAT_SYSTEM_CALL R"(
kumiki_system_call_repeated:
    ret
    .cfi_endproc
    .size kumiki_repeat_system_call, . - kumiki_repeat_system_call
    .popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] long kumiki_repeat_system_call(long number, const long* arguments);
[[gnu::visibility("hidden")]] extern const char kumiki_system_call_repeated[];
}
#endif

namespace kumiki::platform {

#if defined(__x86_64__)

std::uint32_t SystemCall::architecture() { return AUDIT_ARCH_X86_64; }

SystemCall SystemCall::that_raised(const siginfo_t& information, const ucontext_t& context) {
    constexpr int registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    SystemCall call{information.si_syscall, {}};
    for (std::size_t at = 0; at < argument_count; ++at)
        call.arguments[at] = static_cast<long>(context.uc_mcontext.gregs[registers[at]]);
    return call;
}

void SystemCall::set_result(ucontext_t& context, long result) { context.uc_mcontext.gregs[REG_RAX] = result; }

#elif defined(__aarch64__)

std::uint32_t SystemCall::architecture() { return AUDIT_ARCH_AARCH64; }

SystemCall SystemCall::that_raised(const siginfo_t& information, const ucontext_t& context) {
    SystemCall call{information.si_syscall, {}};
    for (std::size_t at = 0; at < argument_count; ++at)
        call.arguments[at] = static_cast<long>(context.uc_mcontext.regs[at]);
    return call;
}

void SystemCall::set_result(ucontext_t& context, long result) {
    context.uc_mcontext.regs[0] = static_cast<unsigned long>(result);
}

#else

std::uint32_t SystemCall::architecture() { return 0; }
SystemCall SystemCall::that_raised(const siginfo_t&, const ucontext_t&) { return {}; }
void SystemCall::set_result(ucontext_t&, long) {}

#endif

#ifdef KUMIKI_REPEAT_SYSTEM_CALL
long SystemCall::repeat() const { return kumiki_repeat_system_call(number, arguments.data()); }
std::uintptr_t SystemCall::repeated_calls_return() {
    return reinterpret_cast<std::uintptr_t>(kumiki_system_call_repeated);
}
#else
long SystemCall::repeat() const { return 0; }
std::uintptr_t SystemCall::repeated_calls_return() { return 0; }
#endif

} // namespace kumiki::platform
