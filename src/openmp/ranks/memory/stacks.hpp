#pragma once

#include <cstddef>
#include <pthread.h>

#include "error/result.hpp"

namespace kumiki::openmp {

/// The stacks of one rank in memory that all ranks see: a long one for its first thread, a page that nobody may touch,
/// and shorter ones. Because of that page the system's list of mappings tells where the first stack ends.
///
/// They also hold the threads' thread-local variables, which the C library puts at the end of a stack; so pointers to
/// threadprivate variables hold at all ranks.
class Stacks {
public:
    struct Lengths {
        std::size_t first, other;
        int others;
        std::size_t bytes() const { return first + guard_bytes() + other * static_cast<std::size_t>(others); }
    };
    /// The lengths for a rank with so many threads; `other` is what the user wants for the others, or 0.
    static Lengths lengths_for(int threads, std::size_t other);

    Stacks(std::byte* begin, Lengths lengths) : begin_(begin), lengths_(lengths) {}

    int others() const { return lengths_.others; }
    /// Starts thread `number`; 0 is the first one.
    Result<pthread_t> start(int number, void* (*function)(void*), void* argument) const;

private:
    static std::size_t guard_bytes();

    std::byte* begin_;
    Lengths lengths_;
};

} // namespace kumiki::openmp
