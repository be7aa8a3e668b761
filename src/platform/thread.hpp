#pragma once

#include <vector>

namespace kumiki::platform {

/// The processors that the calling thread may run on, in order.
std::vector<int> usable_cpus();

/// Binds the calling thread to processors; false when the system refuses.
bool bind_to_cpus(const std::vector<int>& cpus);

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
