#pragma once

#include <chrono>

#include "error/result.hpp"
#include "platform/descriptor.hpp"

namespace kumiki::platform {

/// Lets a thread sleep until a descriptor becomes readable or another thread wakes it.
class Waker {
public:
    /// Fails if the process may not open another descriptor.
    Result<> open();
    /// Ends the present sleep, or else the next one at once. Any thread may call it.
    void wake();
    /// Sleeps until `descriptor` (negative: none) is readable, wake() is called, or the time is over. Only one thread
    /// calls it.
    void sleep(int descriptor, std::chrono::milliseconds at_most);

private:
    Descriptor event_;
};

} // namespace kumiki::platform
