#pragma once

#include <cstddef>
#include <pthread.h>

#include "error/result.hpp"

namespace kumiki::platform {

/// Starts a thread with a stack of about `stack_bytes`; 0: the system's default (ulimit -s). It handles signals as the
/// calling thread does.
Result<pthread_t> start_thread_with_stack(std::size_t stack_bytes, void* (*function)(void*), void* argument);

} // namespace kumiki::platform
