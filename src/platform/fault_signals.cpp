#include "platform/fault_signals.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <pthread.h>
#include <span>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

#include "platform/faulting_instruction.hpp"
#include "platform/memory.hpp"
#include "platform/signal_sets.hpp"

namespace kumiki::platform {
namespace {

constexpr std::size_t most_ranges = 1024; ///< each image of a program has one, and so has each job with shared arrays

/// `handler` is stored last, with release order, and loaded first, with acquire order: a thread that
/// sees it also sees the range.
struct Slot {
    std::atomic<FaultHandler*> handler;
    std::atomic<std::uintptr_t> begin, end;
    std::atomic<FaultRange::Purpose> purpose;

    bool is_for_repair() const { return purpose.load(std::memory_order_relaxed) == FaultRange::Purpose::repair; }
};

/// A process has one set of signal handlers, and a signal handler has no argument through which it could find an
/// object; so these are variables of the process.
struct Signals {
    std::array<Slot, most_ranges> slots;
    std::atomic<std::size_t> used = 0; ///< how many of them, from the first on, have ever been claimed
    struct sigaction segv, bus;        ///< what was installed before
    std::mutex mutex;                  ///< guards claims; never taken by a handler
    pid_t process = 0;                 ///< which has installed them; its children inherit them, but not the memory
};
Signals signals;

/// Those that may hold a claim. A thread that faults in a range knows of its claim.
std::span<Slot> used_slots() { return std::span(signals.slots).first(signals.used.load(std::memory_order_acquire)); }

/// The number of faults of this thread that have been repaired. In this model a handler can count without a lock.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t repaired = 0;

/// For faulting_instruction(). A handler's thread asks for its own only.
[[gnu::tls_model("initial-exec")]] thread_local const void* instruction = nullptr;

/// The claimed range that contains the address; null: none.
FaultHandler* handler_of(std::uintptr_t address) {
    for (const Slot& slot : used_slots())
        if (FaultHandler* const handler = slot.handler.load(std::memory_order_acquire);
            handler != nullptr && address >= slot.begin.load(std::memory_order_relaxed) &&
            address < slot.end.load(std::memory_order_relaxed))
            return handler;
    return nullptr;
}

Attempt attempt_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
    constexpr greg_t write_bit = 2; // of the processor's error code of a page fault
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    return (registers[REG_ERR] & write_bit) != 0 ? Attempt::write : Attempt::read;
#else
    return Attempt::unknown;
#endif
}

/// Whether the page is there, and what is on it may not be executed.
bool is_forbidden_execution([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
    constexpr greg_t present_bit = 1, fetch_bit = 16; // of an instruction
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    return (registers[REG_ERR] & present_bit) != 0 && (registers[REG_ERR] & fetch_bit) != 0;
#else
    return false;
#endif
}

/// Gives the signal to the handler that was there before. Without one, the default is installed again, and the signal
/// comes again: the access is repeated, and a signal that another process has sent is sent once more.
void pass_on(int signal, siginfo_t* information, void* context) {
    const struct sigaction& before = signal == SIGSEGV ? signals.segv : signals.bus;
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, information, context);
    } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
        if (information->si_code <= 0) raise(signal);
    } else {
        before.sa_handler(signal);
    }
}

void on_signal(int signal, siginfo_t* information, void* context) {
    const int error = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
    const bool is_access = information->si_code > 0 && !is_forbidden_execution(context); // or a signal that was sent
    FaultHandler* const handler = is_access ? handler_of(address) : nullptr;
    if (handler != nullptr) {
        instruction = instruction_of(context);
        const bool handled = handler->fault(static_cast<std::byte*>(information->si_addr), attempt_of(context));
        errno = error;
        if (handled) {
            ++repaired;
            return;
        }
    }
    pass_on(signal, information, context);
}

/// Again with every range, because a library that was loaded meanwhile may have installed its own (UCX does).
Result<> install(int signal, struct sigaction& before) {
    struct sigaction ours{}, now{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    // A handler of the program that interrupted ours could fault itself, while this signal is blocked, and ours may
    // hold locks of the library. What it waits for needs no signal.
    ours.sa_mask = asynchronous_signals();
    if (sigaction(signal, nullptr, &now) == 0) {
        if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) return {};
        before = now;
        if (sigaction(signal, &ours, nullptr) == 0) return {};
    }
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot handle faults of shared memory (sigaction: {})", std::strerror(errno)));
}

/// A forked child has the addresses, but no place in the job: what its faults did would be done to its parent's pages.
void forget_in_child() {
    for (Slot& slot : used_slots()) slot.handler.store(nullptr, std::memory_order_relaxed);
}

Result<> install() {
    if (signals.process == 0) pthread_atfork(nullptr, nullptr, forget_in_child);
    signals.process = getpid();
    if (auto installed = install(SIGSEGV, signals.segv); !installed) return installed;
    return install(SIGBUS, signals.bus);
}

} // namespace

const void* instruction_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    return reinterpret_cast<const void*>(registers[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
    return nullptr;
#endif
}

Result<FaultRange> FaultRange::claim(std::byte* begin, std::size_t bytes, FaultHandler& handler, Purpose purpose) {
    const std::lock_guard lock(signals.mutex);
    if (auto installed = install(); !installed) return tl::unexpected(installed.error());
    for (std::size_t number = 0; number < most_ranges; ++number) {
        Slot& slot = signals.slots[number];
        if (slot.handler.load(std::memory_order_relaxed) != nullptr) continue;
        slot.begin.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_relaxed);
        slot.end.store(reinterpret_cast<std::uintptr_t>(begin) + bytes, std::memory_order_relaxed);
        slot.purpose.store(purpose, std::memory_order_relaxed);
        slot.handler.store(&handler, std::memory_order_release);
        if (purpose == Purpose::repair) detail::repaired_ranges.fetch_add(1, std::memory_order_relaxed);
        if (number >= signals.used.load(std::memory_order_relaxed))
            signals.used.store(number + 1, std::memory_order_release);
        return FaultRange(static_cast<int>(number));
    }
    return fail(
        KUMIKI_ERROR_STATE,
        fmt::format("a process can have at most {} shared arrays and libraries with shared variables", most_ranges));
}

FaultRange::FaultRange(FaultRange&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

FaultRange& FaultRange::operator=(FaultRange&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
}

FaultRange::~FaultRange() {
    if (slot_ < 0) return;
    const std::lock_guard lock(signals.mutex);
    Slot& slot = signals.slots[static_cast<std::size_t>(slot_)];
    slot.handler.store(nullptr, std::memory_order_release);
    if (slot.is_for_repair()) detail::repaired_ranges.fetch_sub(1, std::memory_order_relaxed);
}

const void* faulting_instruction() { return instruction; }

std::atomic<int> detail::repaired_ranges{0};
std::atomic<int> detail::kernel_writes{0};

bool detail::is_in_repaired_range(std::span<const std::byte> memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    return std::ranges::any_of(used_slots(), [begin, end = begin + memory.size()](const Slot& slot) {
        return slot.handler.load(std::memory_order_acquire) != nullptr && slot.is_for_repair() &&
               begin < slot.end.load(std::memory_order_relaxed) && slot.begin.load(std::memory_order_relaxed) < end;
    });
}

namespace {

/// Other threads may write the byte meanwhile, and lose nothing by it.
[[gnu::no_sanitize("thread", "address")]] void touch_byte(const std::byte* at, Attempt attempt) {
    auto* const byte = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(at));
    if (attempt == Attempt::read) static_cast<void>(*const_cast<const volatile std::uint8_t*>(byte));
    else __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
}

} // namespace

bool KernelAccess::touch(std::span<const std::byte> memory, Attempt attempt) {
    constexpr std::size_t most = std::size_t{1} << 31; // no system call transfers more
    if (memory.size() > most) memory = {memory.data(), most};
    if (!may_fault(memory) || getpid() != signals.process) return false;
    if (attempt == Attempt::write && !std::exchange(writes_, true)) detail::kernel_writes.fetch_add(1);
    const std::uint64_t before = repaired;
    while (!memory.empty()) {
        const FaultHandler* const handler = handler_of(reinterpret_cast<std::uintptr_t>(memory.data()));
        const std::size_t bytes = handler == nullptr ? 0 : std::min(memory.size(), handler->accessible(memory.data()));
        if (bytes == 0) break;
        const std::byte* const end = memory.data() + bytes;
        for (const std::byte* at = memory.data(); at < end;) {
            touch_byte(at, attempt);
            at += page_size() - reinterpret_cast<std::uintptr_t>(at) % page_size();
        }
        memory = memory.subspan(bytes);
    }
    return repaired != before;
}

} // namespace kumiki::platform
