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

/// Copies whole blocks of 256 bytes; `destination` is aligned to a cache line.
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

void blocks_sse2(std::byte* destination, const std::byte* source, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(source + i + ahead), _MM_HINT_T0);
        for (std::size_t part = i; part < i + 64; part += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(destination + part),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + part)));
    }
}

Blocks blocks_for_this_processor() { return __builtin_cpu_supports("avx512f") ? blocks_avx512 : blocks_sse2; }

} // namespace

void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes) {
    constexpr std::size_t line = 64, block = 256;
    static const Blocks copy_blocks = blocks_for_this_processor();
    const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(destination) % line) % line;
    if (bytes < head + block) {
        std::memcpy(destination, source, bytes);
        return;
    }
    std::memcpy(destination, source, head);
    const std::size_t body = (bytes - head) / block * block;
    copy_blocks(destination + head, source + head, body);
    std::memcpy(destination + head + body, source + head + body, bytes - head - body);
    // Streaming stores are not ordered with others; a signal that follows must be.
    _mm_sfence();
}

#else

void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes) { std::memcpy(destination, source, bytes); }

#endif

} // namespace kumiki::platform
