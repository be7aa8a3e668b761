#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "error/result.hpp"

namespace kumiki::platform {

/// What an access that faulted was about to do. Not every processor tells.
enum class Attempt : std::uint8_t { unknown, read, write };

/// Makes the access to memory possible that the calling thread is about to repeat, or says why it is an error.
class FaultHandler {
public:
    virtual ~FaultHandler() = default;
    /// Called by a thread of the program in the middle of any of its instructions, which may hold any lock of the
    /// program, but none of the library. Returns false when the access is an error of the program.
    virtual bool fault(std::byte* address, Attempt attempt) = 0;
    /// The number of bytes from this address on which a correct program may access; 0: not even this one. May be called
    /// where fault() may.
    virtual std::size_t accessible(const std::byte* address) const = 0;
};

/// A range of addresses whose faults (SIGSEGV and SIGBUS) go to a handler. Faults elsewhere take the way that they took
/// before: to the handler that the program or a sanitizer has installed, or to the end of the process. The first range
/// installs the process's handlers; a program that replaces them later must call those that it found.
class FaultRange {
public:
    /// What the handler is there for.
    enum class Purpose : std::uint8_t {
        repair, ///< accesses of a correct program fault here, too
        report, ///< only the errors of a program do
    };

    static Result<FaultRange> claim(std::byte* begin, std::size_t bytes, FaultHandler& handler, Purpose purpose);

    FaultRange(FaultRange&& other) noexcept;
    FaultRange& operator=(FaultRange&& other) noexcept;
    ~FaultRange();

private:
    explicit FaultRange(int slot) : slot_(slot) {}
    int slot_;
};

/// The instruction that a thread executed when a signal came; `context` is what the signal's handler has got. Null:
/// this processor's is not known here.
const void* instruction_of(const void* context);

namespace detail {
/// The number of ranges for repair that are claimed in this process, whose signal handlers there are only once.
extern std::atomic<int> repaired_ranges;
/// The system calls that may write to these.
extern std::atomic<int> kernel_writes;
bool is_in_repaired_range(std::span<const std::byte> memory);
} // namespace detail

/// Whether accesses of a correct program to some memory of this process may fault.
inline bool memory_may_fault() { return detail::repaired_ranges.load(std::memory_order_relaxed) != 0; }

/// Whether accesses of a correct program to this memory may fault. The caller got the address from the claimer of the
/// range, or from a thread that did, so it sees the range.
inline bool may_fault(std::span<const std::byte> memory) {
    return memory_may_fault() && detail::is_in_repaired_range(memory);
}

/// A system call, which the kernel makes without calling the handlers, with memory of the program. It exists until the
/// call has ended. While the kernel may write to memory that may fault, no other thread makes pages inaccessible ahead
/// of time, without need (dsm::Pages::protect_open): a call that finds such a page in the middle of its buffer would
/// transfer less than was asked for.
class KernelAccess {
public:
    KernelAccess() = default;
    ~KernelAccess() {
        if (writes_) detail::kernel_writes.fetch_sub(1, std::memory_order_release);
    }
    KernelAccess(const KernelAccess&) = delete;
    KernelAccess& operator=(const KernelAccess&) = delete;

    /// Accesses each page of this memory as the program would, without changing it, so that the kernel can access it.
    /// Stops where a correct program may not access, which is for the kernel to report, and does nothing in a child
    /// process. Returns whether an access has faulted, and been repaired.
    bool touch(std::span<const std::byte> memory, Attempt attempt);
    /// Called after pages have been made inaccessible: either it sees that the kernel may write to memory, or the
    /// accesses of touch() come after that, for these have a single total order. If it sees one, the pages must be as
    /// before.
    static bool any_writes() { return detail::kernel_writes.load() != 0; }

private:
    bool writes_ = false;
};

} // namespace kumiki::platform
