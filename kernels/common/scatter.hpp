#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/aligned.hpp"
#include "kernels/common/buckets.hpp"

namespace kumiki::kernels {

/// Distributes keys by their leading digit. The keys of a bucket are collected and written in runs: the bucket's memory
/// is then touched once per kilobyte instead of once per key, which halves the time at sizes beyond the caches, and a
/// run is long enough for a put. One object per thread; it is kept between sorts because its buffers take 256 KiB.
class Scatter {
public:
    explicit Scatter(LeadingDigit bucket_of = {}) : bucket_of_(bucket_of) {}

    /// Calls write(bucket, place, run) until every key has been written; `places[bucket]` is where the caller's keys of
    /// that bucket begin, counted in keys from an address that is aligned to a cache line. Runs but a bucket's first
    /// and last are whole, aligned lines.
    template <class Write>
    void operator()(std::span<const Key> keys, const PerBucket& places, Write write) {
        PerBucket next = places;
        for (const Key key : keys) {
            const std::size_t bucket = bucket_of_(key);
            const std::uint64_t place = next[bucket]++;
            collected_[bucket * run_length + place % run_length] = key;
            if (place % run_length == run_length - 1) write_run(bucket, places[bucket], place + 1, write);
        }
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            if (next[bucket] % run_length != 0) write_run(bucket, places[bucket], next[bucket], write);
    }

private:
    static constexpr std::size_t run_length = 256;

    /// Writes the keys collected for the positions up to `end`; the bucket begins at `begin`, possibly in the middle of
    /// the run.
    template <class Write>
    void write_run(std::size_t bucket, std::uint64_t begin, std::uint64_t end, Write& write) {
        const std::uint64_t first = std::max(begin, (end - 1) / run_length * run_length);
        if (first < end)
            write(bucket, first,
                  std::span<const Key>(&collected_[bucket * run_length + first % run_length], end - first));
    }

    LeadingDigit bucket_of_;
    AlignedVector<Key> collected_ = AlignedVector<Key>(bucket_count * run_length);
};

} // namespace kumiki::kernels
