#include "platform/copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kumiki::platform {

#if defined(__x86_64__)
namespace {

/// Copies `bytes`. Around the caches: `destination` must be aligned to a cache line, and `bytes` must be a multiple of
/// `block`.
using Blocks = void (*)(std::byte* destination, const std::byte* source, std::size_t bytes);
constexpr std::size_t block = 256;

/// The position of the i-th block to copy: the blocks are taken from four pages in turn, as long as four pages are
/// left. Each page has its own memory bank and hardware prefetcher, so the four do not wait for each other.
class Order {
public:
    explicit Order(std::size_t bytes) : in_turn_(bytes / (lanes * page) * (lanes * page / block)) {}
    std::size_t operator()(std::size_t i) const {
        if (i >= in_turn_) return i * block;
        const std::size_t lane = i % lanes, row = i / lanes;
        return row / (page / block) * (lanes * page) + lane * page + row % (page / block) * block;
    }

private:
    static constexpr std::size_t page = 4096, lanes = 4;
    std::size_t in_turn_; ///< how many blocks are copied in this order
};

__attribute__((target("avx512f"))) void around_avx512(std::byte* destination, const std::byte* source,
                                                      std::size_t bytes) {
    const Order order(bytes);
    for (std::size_t i = 0; i < bytes / block; ++i) {
        const std::size_t at = order(i);
        const __m512i a = _mm512_loadu_si512(source + at);
        const __m512i b = _mm512_loadu_si512(source + at + 64);
        const __m512i c = _mm512_loadu_si512(source + at + 128);
        const __m512i d = _mm512_loadu_si512(source + at + 192);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + at), a);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + at + 64), b);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + at + 128), c);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + at + 192), d);
    }
}

__attribute__((target("avx512f"))) void in_cache_avx512(std::byte* destination, const std::byte* source,
                                                        std::size_t bytes) {
    const auto copy_block = [=](std::size_t at) __attribute__((target("avx512f"), always_inline)) {
        const __m512i a = _mm512_loadu_si512(source + at);
        const __m512i b = _mm512_loadu_si512(source + at + 64);
        const __m512i c = _mm512_loadu_si512(source + at + 128);
        const __m512i d = _mm512_loadu_si512(source + at + 192);
        _mm512_storeu_si512(destination + at, a);
        _mm512_storeu_si512(destination + at + 64, b);
        _mm512_storeu_si512(destination + at + 128, c);
        _mm512_storeu_si512(destination + at + 192, d);
    };
#pragma GCC unroll 4
    for (std::size_t at = 0; at + block <= bytes; at += block) copy_block(at);
    copy_block(bytes - block); // the tail, which overlaps what has already been copied
}

void in_cache_plain(std::byte* destination, const std::byte* source, std::size_t bytes) {
    std::memcpy(destination, source, bytes);
}

void around_sse2(std::byte* destination, const std::byte* source, std::size_t bytes) {
    const Order order(bytes);
    for (std::size_t i = 0; i < bytes / block; ++i)
        for (std::size_t part = order(i), end = part + block; part < end; part += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(destination + part),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + part)));
}

bool has_avx512() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
}

const Blocks blocks_in_cache = has_avx512() ? in_cache_avx512 : in_cache_plain;
const Blocks blocks_around_caches = has_avx512() ? around_avx512 : around_sse2;

} // namespace

void copy_in_cache(std::byte* destination, const std::byte* source, std::size_t bytes) {
    blocks_in_cache(destination, source, bytes);
}

void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes) {
    constexpr std::size_t line = 64;
    const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(destination) % line) % line;
    if (bytes < head + block) {
        std::memcpy(destination, source, bytes);
        return;
    }
    std::memcpy(destination, source, head);
    const std::size_t body = (bytes - head) / block * block;
    blocks_around_caches(destination + head, source + head, body);
    std::memcpy(destination + head + body, source + head + body, bytes - head - body);
    // Streaming stores are not ordered with other stores, but a signal that follows must come after them.
    _mm_sfence();
}

#else

void copy_in_cache(std::byte* destination, const std::byte* source, std::size_t bytes) {
    std::memcpy(destination, source, bytes);
}

void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes) {
    std::memcpy(destination, source, bytes);
}

#endif

} // namespace kumiki::platform
