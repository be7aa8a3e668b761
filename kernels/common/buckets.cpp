#include "kernels/common/buckets.hpp"

namespace kumiki::kernels {

PerBucket count_in_buckets(std::span<const Key> keys, LeadingDigit bucket_of) {
    // Four sets of counters: with only one set, successive keys of the same bucket would each wait for the previous
    // store.
    constexpr std::size_t sets = 4;
    std::array<std::array<std::uint32_t, bucket_count>, sets> counters;
    constexpr std::size_t most_at_once = std::size_t{1} << 31; // so that 32 bits are enough for every counter
    PerBucket counts{};
    while (!keys.empty()) {
        for (auto& set : counters) set.fill(0);
        const auto batch = keys.first(keys.size() < most_at_once ? keys.size() : most_at_once);
        std::size_t i = 0;
        for (; i + sets <= batch.size(); i += sets)
            for (std::size_t set = 0; set < sets; ++set) ++counters[set][bucket_of(batch[i + set])];
        for (; i < batch.size(); ++i) ++counters[0][bucket_of(batch[i])];
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            for (const auto& set : counters) counts[bucket] += set[bucket];
        keys = keys.subspan(batch.size());
    }
    return counts;
}

void advance(PerBucket& places, const PerBucket& counts) {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) places[bucket] += counts[bucket];
}

} // namespace kumiki::kernels
