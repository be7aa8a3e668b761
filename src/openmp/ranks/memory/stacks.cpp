#include "openmp/ranks/memory/stacks.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::size_t standard = std::size_t{8} << 20, longest = std::size_t{1} << 30;

/// The limit of the user for the first thread (ulimit -s).
std::size_t limit() {
    rlimit stack{};
    if (getrlimit(RLIMIT_STACK, &stack) != 0) return standard;
    return std::clamp<std::size_t>(stack.rlim_cur, standard, longest); // RLIM_INFINITY is the largest number
}

} // namespace

Stacks::Lengths Stacks::lengths_for(int threads, std::size_t other) {
    const auto pages = [](std::size_t bytes) { return platform::round_up(bytes, platform::page_size()); };
    // Regions may ask for more threads than the rank has.
    return {pages(limit()), pages(std::clamp(other == 0 ? standard : other, std::size_t{1} << 16, longest)),
            2 * threads + 2};
}

std::size_t Stacks::guard_bytes() { return platform::page_size(); }

Result<pthread_t> Stacks::start(int number, void* (*function)(void*), void* argument) const {
    std::byte* const guard = begin_ + lengths_.first;
    if (number == 0) mprotect(guard, guard_bytes(), PROT_NONE);
    std::byte* const begin =
        number == 0 ? begin_ : guard + guard_bytes() + lengths_.other * static_cast<std::size_t>(number - 1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, begin, number == 0 ? lengths_.first : lengths_.other);
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    if (error == 0) return thread;
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot start one more thread ({}); use fewer threads, or raise the limit (ulimit -u)",
                            std::strerror(error)));
}

} // namespace kumiki::openmp
