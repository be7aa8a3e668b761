#pragma once

#include <sched.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

namespace kumiki::bench {

/// The cores that the calling thread may run on.
inline cpu_set_t allowed_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot ask which cores this process may use");
    return cores;
}

/// Restricts the calling thread to these cores.
inline void run_on(const cpu_set_t& cores) {
    if (sched_setaffinity(0, sizeof cores, &cores) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot bind a thread to its cores");
}

inline std::vector<int> numbers(const cpu_set_t& cores) {
    std::vector<int> found;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &cores)) found.push_back(core);
    return found;
}

/// Binds the calling thread to the index-th of these cores.
inline void bind_to(const std::vector<int>& cores, std::size_t index) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores.at(index), &one);
    run_on(one);
}

} // namespace kumiki::bench
