#include "kernels/is/problem.hpp"

#include "kernels/common/npb_random.hpp"

namespace kumiki::kernels::is {

void Problem::generate(std::uint64_t first, std::span<Key> keys) const {
    NpbRandom random;
    random.skip(4 * first);
    // A quarter of the sum, whose unit is 2^-46, times 2^key_bits.
    const int shift = NpbRandom::bits + 2 - key_bits;
    for (Key& key : keys) {
        std::uint64_t sum = 0;
        for (int draw = 0; draw < 4; ++draw) sum += random.next();
        key = static_cast<Key>(sum >> shift);
    }
}

} // namespace kumiki::kernels::is
