#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "error/result.hpp"

namespace kumiki::platform {

/// The processors that the calling thread may run on, in order.
std::vector<int> usable_cpus();

/// The place that thread `thread` of `threads` gets where `places` (at least 1) are too few for one each: the places
/// are used in order, and equally many threads, or one more, share each.
inline std::size_t shared_place(std::size_t thread, std::size_t threads, std::size_t places) {
    return thread * places / threads;
}

/// Binds the calling thread to processors; false when the system refuses.
bool bind_to_cpus(const std::vector<int>& cpus);

/// Starts a thread of the library that runs `body`. It handles no signal that is meant for the whole process, since the
/// program's handlers expect the program's threads; only faults of its own reach it. `duty` says what it does, for the
/// error: "serves the network".
Result<std::thread> start_thread(std::string_view duty, std::function<void()> body);

/// Lets another thread run that is ready to run.
void yield();

/// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

} // namespace kumiki::platform
