#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace kumiki::openmp {

/// The locks of the shared memory that a rank gives to locks of the program, by their numbers. Thread-safe.
class LockNumbers {
public:
    LockNumbers(int rank, int ranks);

    /// 0: there is none left.
    std::uint32_t take();
    void give(std::uint32_t number);

private:
    std::mutex mutex_;
    int next_, step_;
    std::vector<std::uint32_t> returned_;
};

} // namespace kumiki::openmp
