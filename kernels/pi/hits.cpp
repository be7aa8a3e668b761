#include "kernels/pi/hits.hpp"

#if KUMIKI_HAS_HIGHWAY
#include <hwy/highway.h>
#endif

namespace kumiki::kernels::pi {
namespace {

constexpr Philox::Key key_of(std::uint64_t seed) {
    return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

constexpr Philox::Words block(std::uint64_t number, std::uint64_t seed) {
    return Philox::words({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 0, 0},
                         key_of(seed));
}

std::uint64_t misses_in_block(std::uint64_t number, std::uint64_t seed) {
    const auto [x1, y1, x2, y2] = block(number, seed);
    return is_miss(x1, y1) + is_miss(x2, y2);
}

#if KUMIKI_HAS_HIGHWAY

// Written out because the compiler (gcc 12) multiplies 64 bits by 64 instead of 32 by 32, at half the speed.
namespace hn = hwy::HWY_NAMESPACE;
using Wide = hn::ScalableTag<std::uint64_t>; // a word is in the lower half of a lane; the upper half does not matter
using Halves = hn::Repartition<std::uint32_t, Wide>;
using Vector = hn::Vec<Wide>;

Vector times(Vector word, Vector other) {
    return hn::MulEven(hn::BitCast(Halves(), word), hn::BitCast(Halves(), other));
}

Vector are_misses(Vector x, Vector y) {
    const auto coordinate = [](Vector word) {
        return hn::Or(hn::ShiftRight<33>(hn::ShiftLeft<32>(word)), hn::Set(Wide(), 1));
    };
    const Vector wide_x = coordinate(x), wide_y = coordinate(y);
    return hn::ShiftRight<62>(hn::Add(times(wide_x, wide_x), times(wide_y, wide_y)));
}

/// The misses in blocks with these numbers, separately for each lane.
Vector misses_in_blocks(Vector numbers, std::uint64_t seed) {
    const Wide d;
    Vector words[] = {numbers, hn::ShiftRight<32>(numbers), hn::Zero(d), hn::Zero(d)};
    Philox::Key key = key_of(seed);
    for (int round = 0; round < Philox::rounds; ++round) {
        const Vector first = times(words[0], hn::Set(d, Philox::multipliers[0]));
        const Vector second = times(words[2], hn::Set(d, Philox::multipliers[1]));
        words[0] = hn::Xor3(hn::ShiftRight<32>(second), words[1], hn::Set(d, key[0]));
        words[2] = hn::Xor3(hn::ShiftRight<32>(first), words[3], hn::Set(d, key[1]));
        words[1] = second;
        words[3] = first;
        for (std::size_t i = 0; i < 2; ++i) key[i] += Philox::key_steps[i];
    }
    return hn::Add(are_misses(words[0], words[1]), are_misses(words[2], words[3]));
}

/// Processes the first of `blocks` blocks, as many as fill whole vectors; `counted` is their number.
std::uint64_t misses_in_vectors(std::uint64_t first, std::uint64_t blocks, std::uint64_t seed, std::uint64_t& counted) {
    const Wide d;
    const std::uint64_t lanes = hn::Lanes(d);
    Vector misses = hn::Zero(d), numbers = hn::Iota(d, first);
    for (; counted + lanes <= blocks; counted += lanes) {
        misses = hn::Add(misses, misses_in_blocks(numbers, seed));
        numbers = hn::Add(numbers, hn::Set(d, lanes));
    }
    return hn::GetLane(hn::SumOfLanes(d, misses));
}

#else

std::uint64_t misses_in_vectors(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t&) { return 0; }

#endif

} // namespace

std::uint64_t count_hits(std::uint64_t first, std::uint64_t trials, std::uint64_t seed) {
    const std::uint64_t first_block = first / 2, blocks = trials / 2;
    std::uint64_t counted = 0;
    std::uint64_t misses = misses_in_vectors(first_block, blocks, seed, counted);
    for (; counted < blocks; ++counted) misses += misses_in_block(first_block + counted, seed);
    if (trials % 2 != 0) {
        const auto words = block(first_block + blocks, seed);
        misses += is_miss(words[0], words[1]);
    }
    return trials - misses;
}

} // namespace kumiki::kernels::pi
