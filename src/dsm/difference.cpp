#include "dsm/difference.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kumiki::dsm {
namespace {

/// The head of a packed line: its number in the page, and a bit for each byte that follows.
struct Head {
    static constexpr std::size_t bytes = sizeof(std::uint16_t) + sizeof(std::uint64_t);
    std::uint16_t line;
    std::uint64_t mask;

    void write(std::byte* to) const {
        std::memcpy(to, &line, sizeof line);
        std::memcpy(to + sizeof line, &mask, sizeof mask);
    }
    static Head read(const std::byte* from) {
        Head head{};
        std::memcpy(&head.line, from, sizeof head.line);
        std::memcpy(&head.mask, from + sizeof head.line, sizeof head.mask);
        return head;
    }
};

#if defined(__SSE2__) // every x86-64

/// One bit for each byte of the line, set if page and twin differ there.
std::uint64_t compare(const std::byte* page, const std::byte* twin) {
    const auto load = [](const std::byte* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
    std::uint64_t equal = 0;
    for (std::size_t at = 0; at < difference_line; at += sizeof(__m128i)) {
        const __m128i same = _mm_cmpeq_epi8(load(page + at), load(twin + at));
        equal |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(same))} << at;
    }
    return ~equal;
}

#else

/// One bit for each of the 8 bytes of a word, set if the byte is not zero.
std::uint64_t nonzero_bytes(std::uint64_t word) {
    constexpr std::uint64_t low_seven = 0x7f7f7f7f7f7f7f7f, ones = 0x0102040810204080;
    const std::uint64_t high = ((word & low_seven) + low_seven) | word; // the top bit of each byte that is not zero
    return ((high >> 7 & 0x0101010101010101) * ones) >> 56;
}

/// One bit for each byte of the line, set if page and twin differ there.
std::uint64_t compare(const std::byte* page, const std::byte* twin) {
    std::uint64_t mask = 0;
    for (std::size_t at = 0; at < difference_line; at += sizeof(std::uint64_t)) {
        std::uint64_t one = 0, other = 0;
        std::memcpy(&one, page + at, sizeof one);
        std::memcpy(&other, twin + at, sizeof other);
        if (one != other) mask |= nonzero_bytes(one ^ other) << at;
    }
    return mask;
}

#endif

/// Calls each(line, mask) for every line that differs.
template <class Each>
void for_each_line(std::span<const std::byte> page, std::span<const std::byte> twin, Each each) {
    for (std::size_t line = 0; line * difference_line < page.size(); ++line)
        if (const std::uint64_t mask = compare(&page[line * difference_line], &twin[line * difference_line]); mask != 0)
            each(line, mask);
}

} // namespace

std::size_t pack_difference(std::span<const std::byte> page, std::span<const std::byte> twin,
                            std::vector<std::byte>& packed, const LineCopies& copies) {
    std::size_t differing = 0, at = packed.size();
    packed.resize(at + longest_difference(page.size()));
    for_each_line(page, twin, [&](std::size_t line, std::uint64_t mask) {
        Head{static_cast<std::uint16_t>(line), mask}.write(&packed[at]);
        const std::size_t bytes = copies.gather(&packed[at + Head::bytes], &page[line * difference_line], mask);
        differing += bytes;
        at += Head::bytes + bytes;
    });
    packed.resize(at);
    return differing;
}

namespace {

/// Calls each(head, bytes) for every packed line; returns false if they do not fit a page of this length.
template <class Each>
bool for_each_packed(std::span<const std::byte> packed, std::size_t page, Each each) {
    while (!packed.empty()) {
        if (packed.size() < Head::bytes) return false;
        const Head head = Head::read(packed.data());
        packed = packed.subspan(Head::bytes);
        const auto bytes = static_cast<std::size_t>(std::popcount(head.mask));
        if (packed.size() < bytes || (head.line + std::size_t{1}) * difference_line > page) return false;
        each(head, packed.first(bytes));
        packed = packed.subspan(bytes);
    }
    return true;
}

} // namespace

bool apply_difference(std::span<const std::byte> packed, std::span<std::byte> page, const LineCopies& copies) {
    return for_each_packed(packed, page.size(), [&](const Head& head, std::span<const std::byte> bytes) {
        if (head.mask != 0) copies.scatter(&page[head.line * difference_line], bytes.data(), head.mask);
    });
}

namespace {

/// ThreadSanitizer takes no notice of it: where the program accesses the byte without order, the program has the race.
[[gnu::no_sanitize_thread]] std::byte exchange(std::byte& at, std::byte value) {
    return static_cast<std::byte>(__atomic_exchange_n(reinterpret_cast<unsigned char*>(&at),
                                                      static_cast<unsigned char>(value), __ATOMIC_RELAXED));
}

} // namespace

/// A byte of the page is exchanged, since its owner may write it at this moment: a write that comes before is found in
/// what it held, and one that comes behind makes page and twin differ. Between a comparison and a copy it would be
/// lost. The order of other memory does not matter: whoever reads what is found here holds the same lock.
bool merge_difference(std::span<const std::byte> packed, std::span<std::byte> page, std::span<std::byte> twin,
                      std::span<std::uint64_t> both) {
    return for_each_packed(packed, page.size(), [&](const Head& head, std::span<const std::byte> bytes) {
        const std::byte* from = bytes.data();
        for (std::uint64_t left = head.mask; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            const std::size_t at = head.line * difference_line + bit;
            if (exchange(page[at], *from) != twin[at]) both[head.line] |= std::uint64_t{1} << bit;
            twin[at] = *from++;
        }
    });
}

bool is_difference(std::span<const std::byte> packed, std::size_t page) {
    return for_each_packed(packed, page, [](const Head&, std::span<const std::byte>) {});
}

bool mark_difference(std::span<const std::byte> page, std::span<const std::byte> twin, std::span<std::uint64_t> mask) {
    bool any = false;
    for_each_line(page, twin, [&](std::size_t line, std::uint64_t differing) {
        mask[line] |= differing;
        any = true;
    });
    return any;
}

std::size_t copy_difference(std::span<const std::byte> page, std::span<const std::byte> twin,
                            std::span<std::byte> into) {
    std::size_t differing = 0;
    const LineCopies& copies = fastest_copies();
    for_each_line(page, twin, [&](std::size_t line, std::uint64_t mask) {
        std::array<std::byte, difference_line> bytes;
        differing += copies.gather(bytes.data(), &page[line * difference_line], mask);
        copies.scatter(&into[line * difference_line], bytes.data(), mask);
    });
    return differing;
}

} // namespace kumiki::dsm
