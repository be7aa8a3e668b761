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
bool is_in_repaired_range(std::span<const std::byte> memory);
} // namespace detail

/// Whether accesses of a correct program to some memory of this process may fault.
inline bool memory_may_fault() { return detail::repaired_ranges.load(std::memory_order_relaxed) != 0; }

/// Whether accesses of a correct program to this memory may fault. The caller got the address from the claimer of the
/// range, or from a thread that did, so it sees the range.
inline bool may_fault(std::span<const std::byte> memory) {
    return memory_may_fault() && detail::is_in_repaired_range(memory);
}

/// Accesses each page of this memory as the program would, without changing it, so that the kernel, which does not call
/// the handlers, can access it in a system call. Stops where a correct program may not access, which is for the kernel
/// to report, and does nothing in a child process. Returns whether an access has faulted, and been repaired.
bool touch(std::span<const std::byte> memory, Attempt attempt);

} // namespace kumiki::platform
