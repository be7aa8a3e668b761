#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <unistd.h>

#include "kumiki/kumiki.hpp"
#include "measure/sampling.hpp"

namespace kumiki::bench {

/// Two ranks touch a fresh array, each its half, and meet at a barrier, as the initialization of a program does.
class FirstTouch {
public:
    FirstTouch(Job& job, std::size_t bytes, std::size_t page_bytes)
        : job_(job), bytes_(bytes), page_bytes_(page_bytes) {}

    /// Seconds for all from the first touch to the end of the barrier; whether the homes are where they should be.
    /// Collective.
    std::pair<double, bool> shared(Homes homes) {
        SharedArray<std::byte> array(job_.handle(), bytes_, homes, page_bytes_);
        const std::size_t half = bytes_ / 2, begin = job_.rank() == 0 ? 0 : half;
        job_.barrier();
        const auto start = measure::Clock::now();
        touch(array.data() + begin, half);
        job_.shared_barrier();
        const double seconds = measure::seconds_since(start);
        const kumiki_shared_counters counted = array.counters();
        bool right = counted.fetches == 0;
        for (std::size_t at = begin; at < begin + half; at += page_bytes_)
            right = array.home(at) == job_.rank() && right;
        job_.shared_barrier();
        return {seconds, right};
    }
    /// The same with memory of the kernel alone, in a file in memory as that of the arrays is: what it takes to fill
    /// pages with zeros. Collective.
    double bare() {
        const std::size_t half = bytes_ / 2;
        const int file = memfd_create("kumiki-bare-zeros", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(half)) != 0)
            throw std::system_error(errno, std::generic_category(), "memfd_create");
        void* const memory = mmap(nullptr, half, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        job_.barrier();
        const auto start = measure::Clock::now();
        touch(static_cast<std::byte*>(memory), half);
        job_.barrier();
        const double seconds = measure::seconds_since(start);
        munmap(memory, half);
        return seconds;
    }
    /// The pages of the protocol that a rank touches.
    std::size_t pages() const { return bytes_ / 2 / page_bytes_; }

private:
    static void touch(std::byte* memory, std::size_t bytes) {
        constexpr std::size_t system_page = 4096;
        for (std::size_t at = 0; at < bytes; at += system_page)
            *static_cast<volatile std::byte*>(memory + at) = std::byte{1};
    }

    Job& job_;
    std::size_t bytes_, page_bytes_;
};

} // namespace kumiki::bench
