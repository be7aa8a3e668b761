#pragma once

#include <cstddef>
#include <vector>

#include "openmp/ranks/memory/image.hpp"

namespace kumiki::openmp {

/// Those variables of the program and its libraries that each thread has for itself (thread_local, threadprivate).
class ThreadVariables {
public:
    ThreadVariables() = default; ///< none
    explicit ThreadVariables(const Program& program);

    /// Whether the calling thread's have another value than they began with.
    bool have_changed() const;

private:
    std::vector<const std::byte*> objects_; ///< that have such variables, by their beginnings in memory
};

} // namespace kumiki::openmp
