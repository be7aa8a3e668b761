#pragma once

#include <cstddef>
#include <cstdint>

namespace kumiki::dsm {

/// Pages are compared in lines of this length.
inline constexpr std::size_t difference_line = 64;

/// How the bytes of a line that differ are copied. `mask` has a bit for each byte of the line, the lowest for the first
/// one, and is not 0.
struct LineCopies {
    /// Copies the bytes of the line `from` that are in the mask to `to`, one behind the other, and returns their
    /// number. It may write up to difference_line bytes there.
    std::size_t (*gather)(std::byte* to, const std::byte* from, std::uint64_t mask);
    /// The reverse: copies as many bytes as the mask has from `from` to where they belong in the line `to`. It reads
    /// and writes no other byte.
    void (*scatter)(std::byte* to, const std::byte* from, std::uint64_t mask);
};

/// For every processor. Its time grows with the number of runs of bytes that differ, above all if their lengths cannot
/// be predicted, as with numbers of which the highest bytes stay.
extern const LineCopies run_copies;

/// Takes the same time for each line. It needs AVX-512 with VBMI2 (Intel from Ice Lake, AMD from Zen 4); null:
/// this processor has none, or ThreadSanitizer is to see what is copied.
const LineCopies* vector_copies();

/// vector_copies() where there are any, else run_copies.
const LineCopies& fastest_copies();

} // namespace kumiki::dsm
