#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "error/result.hpp"

namespace kumiki::platform {

/// The processors that the calling thread may run on, in order.
std::vector<int> usable_cpus();

/// The place of thread `thread` of `threads` if there are too few `places` (at least 1) for one each: the places are
/// used in order, and each is shared by equally many threads, or one more.
inline std::size_t shared_place(std::size_t thread, std::size_t threads, std::size_t places) {
    return thread * places / threads;
}

/// Binds the calling thread to processors; false when the system refuses.
bool bind_to_cpus(const std::vector<int>& cpus);

/// Starts a thread of the library that runs `body`. It handles no signal that is meant for the whole process, because
/// the program expects its handlers to run on its own threads; it gets only the signals of faults that it causes
/// itself. `duty` describes the thread in the error message: "serves the network".
Result<std::thread> start_thread(std::string_view duty, std::function<void()> body);

/// The same for a thread that does work which others leave to it until the object that has it is destroyed: it then
/// gets the request to stop, and the destructor waits for its end. It must be the last member of that object.
Result<std::jthread> start_worker(std::string_view duty, std::function<void(std::stop_token)> body);

/// Lets another thread run that is ready.
void yield();

/// How long the calling thread has had a processor.
std::chrono::nanoseconds thread_time();

/// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

} // namespace kumiki::platform
