#include "platform/stack_thread.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace kumiki::platform {

Result<pthread_t> start_thread_with_stack(std::size_t stack_bytes, void* (*function)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack_bytes != 0) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const auto smallest = static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN));
        stack_bytes = (std::max(stack_bytes, smallest) + page - 1) / page * page;
        pthread_attr_setstacksize(&attributes, stack_bytes);
    }
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot start one more thread ({}); use fewer threads or smaller stacks, or raise the "
                                "limits (ulimit -u, ulimit -v)",
                                std::strerror(error)));
    return thread;
}

} // namespace kumiki::platform
