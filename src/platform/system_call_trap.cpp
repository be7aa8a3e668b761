#include "platform/system_call_trap.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <sys/syscall.h>

#include "platform/fault_signals.hpp"
#include "platform/system_call.hpp"
#include "platform/system_call_filter.hpp"
#include "platform/trapped_calls.hpp"

namespace kumiki::platform {
namespace {

/// At an address that is not a buffer with a length the kernel reads or writes no more than this.
constexpr std::size_t longest_structure = 4096;

/// Returns whether an access has faulted.
bool touch_arguments(KernelAccess& access, const SystemCall& call) {
    const TrappedCall* const found = std::ranges::find_if(
        trapped_calls, [&call](const TrappedCall& each) { return static_cast<long>(each.number) == call.number; });
    if (found == std::end(trapped_calls)) return false;
    bool repaired = false;
    for (std::size_t at = 0; at < SystemCall::argument_count; ++at) {
        if (!found->is_address(at)) continue;
        const bool is_buffer = found->buffer == at;
        const std::size_t bytes =
            is_buffer ? static_cast<std::size_t>(call.arguments[found->length]) * found->unit : longest_structure;
        repaired |= access.touch({reinterpret_cast<const std::byte*>(call.arguments[at]), bytes},
                                 is_buffer ? found->attempt : Attempt::write);
    }
    return repaired;
}

/// A process has one handler of SIGSYS, and filters that stay, so these are variables of the process.
struct Trap {
    std::mutex mutex; ///< guards the installation; no handler takes it
    bool handles = false;
    struct sigaction before; ///< what was installed
    UpperHalves range{1, 0}; ///< of the latest filter
};
Trap trap;

constexpr int from_filter = 1; ///< the kernel's SYS_SECCOMP, which not every C library defines

/// Gives a signal of other origin to the handler that was there before. Without one it ends the process.
void pass_on(int signal, siginfo_t* information, void* context) {
    if ((trap.before.sa_flags & SA_SIGINFO) != 0) {
        trap.before.sa_sigaction(signal, information, context);
    } else if (trap.before.sa_handler == SIG_DFL) {
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
        raise(signal);
    } else if (trap.before.sa_handler != SIG_IGN) {
        trap.before.sa_handler(signal);
    }
}

/// The return from the handler will give the thread the mask of its signals in this context; after a call that changed
/// the mask this must be the new one.
void keep_signal_mask(ucontext_t& context) {
    std::uint64_t mask = 0;
    const SystemCall ask{SYS_rt_sigprocmask, {SIG_BLOCK, 0, reinterpret_cast<long>(&mask), sizeof mask}};
    if (ask.repeat() == 0) std::memcpy(&context.uc_sigmask, &mask, sizeof mask);
}

/// While a call waits, another thread may make pages inaccessible, by releasing a lock. The call that then fails is
/// repeated, but not if there was nothing to repair: then its failure is the program's.
void on_trap(int signal, siginfo_t* information, void* given) {
    if (information->si_code != from_filter || information->si_errno != filter_mark) {
        pass_on(signal, information, given);
        return;
    }
    const int error = errno;
    auto& context = *static_cast<ucontext_t*>(given);
    const SystemCall call = SystemCall::that_raised(*information, context);
    KernelAccess access;
    touch_arguments(access, call);
    long result = call.repeat();
    while (result == -EFAULT && touch_arguments(access, call)) result = call.repeat();
    if (call.number == SYS_rt_sigprocmask) keep_signal_mask(context);
    SystemCall::set_result(context, result);
    errno = error;
}

Result<> handle() {
    if (trap.handles) return {};
    struct sigaction ours{};
    ours.sa_sigaction = on_trap;
    // The call is repeated in the handler, with the program's mask of signals, which the call may change. Handlers of
    // the program that interrupt it may make such calls, too.
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGSYS, &ours, &trap.before) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot handle SIGSYS (sigaction: {})", std::strerror(errno)));
    trap.handles = true;
    return {};
}

} // namespace

Result<> trap_system_calls(const std::byte* begin, std::size_t bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    const UpperHalves range{static_cast<std::uint32_t>(first >> 32),
                            static_cast<std::uint32_t>((first + bytes - 1) >> 32)};
    const std::lock_guard lock(trap.mutex);
    if (range.first >= trap.range.first && range.last <= trap.range.last) return {};
    if (auto handled = handle(); !handled) return handled;
    if (auto installed = install_system_call_filter(range); !installed) return installed;
    trap.range = range;
    return {};
}

} // namespace kumiki::platform
