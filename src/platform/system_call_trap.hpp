#pragma once

#include <cstddef>

#include "error/result.hpp"

namespace kumiki::platform {

/// Makes system calls work that get the address of memory in this range, which belongs to a FaultRange: the kernel does
/// not handle faults of such memory, but fails (EFAULT). From now on a call of any thread of this process that has an
/// argument in the range raises SIGSYS; the handler touches the memory like the program itself (KernelAccess), and
/// repeats the call. Calls whose buffers are named by an array of addresses pass the addresses of these arrays only;
/// iovec_calls.cpp and message_calls.cpp take care of them.
///
/// This cannot be undone, and children inherit it, also across exec: the range must consist of addresses that no
/// program uses. Without privileges it is only possible for a process that can gain none (no_new_privs), so the process
/// becomes one. Fails, and changes nothing, where the system does not allow it, and on processors whose registers it
/// does not know.
Result<> trap_system_calls(const std::byte* begin, std::size_t bytes);

} // namespace kumiki::platform
