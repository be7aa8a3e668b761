#pragma once

#include <atomic>
#include <thread>

#include "kumiki/kumiki.hpp"

namespace kumiki::linpack {

/// A slow processor for studies: beside the last thread of the job's last rank a thread computes all the time, on the
/// same processor, so that this one has half of its time. It needs no privilege, as a quota of a control group would.
class Burden {
public:
    /// Throws std::runtime_error at the last rank where its threads are not bound to processors.
    explicit Burden(Job& job);
    ~Burden();
    Burden(const Burden&) = delete;
    Burden& operator=(const Burden&) = delete;

private:
    std::atomic<bool> done_{false};
    std::thread thread_; ///< at the last rank
};

} // namespace kumiki::linpack
