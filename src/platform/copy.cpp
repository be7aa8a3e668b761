#include "platform/copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kumiki::platform {

#if defined(__x86_64__)
namespace {

/// How far ahead of the copy the source is fetched: the hardware prefetcher stops at each page.
constexpr std::size_t ahead = 1024;

/// How a block is copied. Around the caches: whole multiples of 256 bytes, `destination` aligned to a cache line.
using Blocks = void (*)(std::byte* destination, const std::byte* source, std::size_t bytes);

__attribute__((target("avx512f"))) void blocks_avx512(std::byte* destination, const std::byte* source, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 256) {
        for (std::size_t line = 0; line < 256; line += 64) _mm_prefetch(reinterpret_cast<const char*>(source + i + ahead + line), _MM_HINT_T0);
        const __m512i a = _mm512_loadu_si512(source + i);
        const __m512i b = _mm512_loadu_si512(source + i + 64);
        const __m512i c = _mm512_loadu_si512(source + i + 128);
        const __m512i d = _mm512_loadu_si512(source + i + 192);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + i), a);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + i + 64), b);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + i + 128), c);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(destination + i + 192), d);
    }
}

__attribute__((target("avx512f"))) void in_cache_avx512(std::byte* destination, const std::byte* source, std::size_t bytes) {
    constexpr std::size_t block = 256;
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
    copy_block(bytes - block); // the tail, over what is there already
}

void in_cache_plain(std::byte* destination, const std::byte* source, std::size_t bytes) { std::memcpy(destination, source, bytes); }

void blocks_sse2(std::byte* destination, const std::byte* source, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(source + i + ahead), _MM_HINT_T0);
        for (std::size_t part = i; part < i + 64; part += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(destination + part),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + part)));
    }
}

bool has_avx512() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
}

const Blocks blocks_in_cache = has_avx512() ? in_cache_avx512 : in_cache_plain;
const Blocks blocks_around_caches = has_avx512() ? blocks_avx512 : blocks_sse2;

} // namespace

void copy_in_cache(std::byte* destination, const std::byte* source, std::size_t bytes) { blocks_in_cache(destination, source, bytes); }

void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes) {
    constexpr std::size_t line = 64, block = 256;
    const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(destination) % line) % line;
    if (bytes < head + block) {
        std::memcpy(destination, source, bytes);
        return;
    }
    std::memcpy(destination, source, head);
    const std::size_t body = (bytes - head) / block * block;
    blocks_around_caches(destination + head, source + head, body);
    std::memcpy(destination + head + body, source + head + body, bytes - head - body);
    // Streaming stores are not ordered with others; a signal that follows must be.
    _mm_sfence();
}

#else

void copy_in_cache(std::byte* destination, const std::byte* source, std::size_t bytes) { std::memcpy(destination, source, bytes); }

void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes) { std::memcpy(destination, source, bytes); }

#endif

} // namespace kumiki::platform
