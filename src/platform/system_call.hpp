#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ucontext.h>

namespace kumiki::platform {

/// A system call of the program, as the processor's registers hold it: the part of system_call_trap.hpp that differs
/// from one kind of processor to the next.
struct SystemCall {
    static constexpr std::size_t argument_count = 6;

    long number;
    std::array<long, argument_count> arguments;

    /// The call that raised SIGSYS; the handler's arguments.
    static SystemCall that_raised(const siginfo_t& information, const ucontext_t& context);
    /// Calls the kernel, which returns to repeated_calls_return() and nowhere else. The result is the kernel's:
    /// -EFAULT, for instance. It leaves errno alone.
    long repeat() const;
    /// The program continues with this as the result of its call.
    static void set_result(ucontext_t& context, long result);

    static std::uintptr_t repeated_calls_return();
    /// AUDIT_ARCH_... of this processor's calls; 0: this file does not know its registers.
    static std::uint32_t architecture();
};

} // namespace kumiki::platform
