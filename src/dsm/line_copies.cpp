#include "dsm/line_copies.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define KUMIKI_VECTOR_COPIES
#include <immintrin.h>
#endif

namespace kumiki::dsm {
namespace {

/// Calls each(begin, length) for every run of ones in the mask.
template <class Each>
void for_each_run(std::uint64_t mask, Each each) {
    std::size_t at = 0;
    while (mask != 0) {
        const auto skip = static_cast<std::size_t>(std::countr_zero(mask));
        mask >>= skip;
        const auto length = static_cast<std::size_t>(std::countr_one(mask));
        each(at + skip, length);
        at += skip + length;
        mask = length == 64 ? 0 : mask >> length;
    }
}

/// Copies `length` bytes, from `part` to twice as many.
template <std::size_t part>
void copy_ends(std::byte* to, const std::byte* from, std::size_t length) {
    std::array<std::byte, part> first, last;
    std::memcpy(&first, from, part);
    std::memcpy(&last, from + length - part, part);
    std::memcpy(to, &first, part);
    std::memcpy(to + length - part, &last, part);
}

/// Copies a run of bytes of a line, a short one by two copies that may overlap, because a call of memcpy takes longer.
void copy_run(std::byte* to, const std::byte* from, std::size_t length) {
    if (length == difference_line) std::memcpy(to, from, difference_line);
    else if (length > 16) std::memcpy(to, from, length);
    else if (length >= 8) copy_ends<8>(to, from, length);
    else if (length >= 4) copy_ends<4>(to, from, length);
    else if (length >= 2) copy_ends<2>(to, from, length);
    else *to = *from;
}

std::size_t gather_runs(std::byte* to, const std::byte* from, std::uint64_t mask) {
    std::size_t copied = 0;
    for_each_run(mask, [&](std::size_t begin, std::size_t length) {
        copy_run(to + copied, from + begin, length);
        copied += length;
    });
    return copied;
}

void scatter_runs(std::byte* to, const std::byte* from, std::uint64_t mask) {
    for_each_run(mask, [&](std::size_t begin, std::size_t length) {
        copy_run(to + begin, from, length);
        from += length;
    });
}

} // namespace

constexpr LineCopies run_copies{gather_runs, scatter_runs};

#ifdef KUMIKI_VECTOR_COPIES
namespace {

#define KUMIKI_VECTOR_TARGET [[gnu::target("avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]]

KUMIKI_VECTOR_TARGET std::size_t gather_vector(std::byte* to, const std::byte* from, std::uint64_t mask) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(from)));
    return static_cast<std::size_t>(_mm_popcnt_u64(mask));
}

/// A store by a mask writes no byte beside the mask, not even with its present value.
KUMIKI_VECTOR_TARGET void scatter_vector(std::byte* to, const std::byte* from, std::uint64_t mask) {
    const auto count = static_cast<unsigned>(_mm_popcnt_u64(mask));
    const __m512i packed = _mm512_maskz_loadu_epi8(_bzhi_u64(~0ULL, count), from);
    _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_expand_epi8(mask, packed));
}

#undef KUMIKI_VECTOR_TARGET

} // namespace

const LineCopies* vector_copies() {
    static constexpr LineCopies copies{gather_vector, scatter_vector};
    static const bool available = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                  __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
    return available ? &copies : nullptr;
}

#else

const LineCopies* vector_copies() { return nullptr; }

#endif

const LineCopies& fastest_copies() {
    const LineCopies* const vector = vector_copies();
    return vector != nullptr ? *vector : run_copies;
}

} // namespace kumiki::dsm
