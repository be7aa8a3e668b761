#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdio>
#include <mutex>

namespace kumiki::openmp {

/// Where streams lie that the program opens, at the same address in all processes; each process opens its own at its
/// part of them.
struct StreamPlaces {
    /// The C library's object of a stream has about 550 bytes.
    struct alignas(64) Place {
        std::array<std::byte, 1024> memory;
    };

    std::array<Place, 512> all;
    std::mutex mutex;
    std::bitset<512> used;
    std::size_t first = 0, end = 0; ///< those of this process; none before there are Streams

    std::size_t number(const void* memory) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(memory) - all.front().memory.data()) /
               sizeof(Place);
    }
    bool has(const void* memory) const { return memory >= all.data() && memory < all.data() + all.size(); }
    /// Not inline: of what it sees to be an array, the compiler warns that fclose() must not free it.
    [[gnu::noinline]] std::FILE* stream(std::size_t place) { return reinterpret_cast<std::FILE*>(&all[place]); }
};

/// A variable of the process, because the C library asks for memory by malloc(), which has no argument for it; and
/// because variables of this library are at the same address in all processes.
extern StreamPlaces the_places; // NOLINT: see above

} // namespace kumiki::openmp
