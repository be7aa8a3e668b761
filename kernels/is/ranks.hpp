#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/buckets.hpp"
#include "kernels/common/range.hpp"

namespace kumiki::kernels::is {

/// The ranks of all possible keys of some contiguous buckets, which are the numbers of smaller keys. Equal keys share a
/// rank, that of the first of them, as in the benchmark's own programs.
class Ranks {
public:
    explicit Ranks(LeadingDigit bucket_of) : bucket_of_(bucket_of) {}

    /// Begins anew with these buckets.
    void begin(Range buckets);
    /// Counts keys of one bucket; may be called any number of times for each bucket.
    void count(std::size_t bucket, std::span<const Key> keys);
    /// Turns the counts of a bucket into ranks; `smaller` keys are in the buckets before it.
    void finish(std::size_t bucket, std::uint64_t smaller);

    bool has(Key key) const { return bucket_of_(key) >= buckets_.begin && bucket_of_(key) < buckets_.end; }
    std::uint32_t& operator[](Key key) { return ranks_[key - first_key(buckets_.begin)]; }

private:
    Key first_key(std::size_t bucket) const { return static_cast<Key>(bucket << bucket_of_.shift); }
    std::span<std::uint32_t> of(std::size_t bucket) {
        return std::span(ranks_).subspan((bucket - buckets_.begin) << bucket_of_.shift,
                                         std::size_t{1} << bucket_of_.shift);
    }

    LeadingDigit bucket_of_;
    Range buckets_;
    std::vector<std::uint32_t> ranks_; ///< by key, from the first bucket's first
};

/// Puts the keys of one worker in the order of their ranks: the benchmark's full verification.
class Arrangement {
public:
    /// Room for the keys of ranks `smaller` .. smaller + count.
    Arrangement(const Ranks& ranks, std::uint64_t smaller, std::uint64_t count)
        : next_(ranks), smaller_(smaller), keys_(count, unset) {}

    void place(std::span<const Key> keys);
    /// Whether every place was taken once, and the keys are in ascending order.
    bool complete() const;
    std::span<const Key> keys() const { return keys_; }

private:
    static constexpr Key unset = ~Key{0}; // larger than any key

    Ranks next_; ///< the place of the next key of each value
    std::uint64_t smaller_;
    std::vector<Key> keys_;
    bool overflown_ = false;
};

/// The sum of a hash of each key, modulo 2^64: it distinguishes sets of keys regardless of their order.
std::uint64_t fingerprint(std::span<const Key> keys);

} // namespace kumiki::kernels::is
