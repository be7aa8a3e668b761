#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kumiki::openmp {

/// The program as it lies in memory.
struct Image {
    std::span<std::byte> data; ///< its variables: whole pages, without those that become read-only at the start
    std::vector<std::span<std::byte>> code;
    std::uint64_t layout = 0; ///< a number that differs if anything is loaded elsewhere, or something else is
    std::string other_user;   ///< a library that uses OpenMP itself; empty: there is none
};

/// Must be called when all libraries are loaded.
Image find_image();

/// Whether calls from this address come from the program, or from a library that works on its behalf with memory of
/// its own: those of C++ and Fortran.
class Callers {
public:
    Callers();
    bool has(const void* address) const {
        for (const auto& range : ranges_)
            if (address >= range.data() && address < range.data() + range.size()) return true;
        return false;
    }

private:
    std::vector<std::span<const std::byte>> ranges_;
};

} // namespace kumiki::openmp
