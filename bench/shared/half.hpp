#pragma once

#include <cstdint>

#include "bench/shared/scattered.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// A shared array of which rank 0 is the home of the first half and rank 1 of the second, whose pages rank 0 uses.
class SecondHalf {
public:
    /// `pages`: of the half, a power of two. Collective.
    SecondHalf(Job& job, std::size_t page_bytes, std::size_t pages, Protocol protocol = Protocol::invalidate)
        : job_(job),
          pages_(pages),
          words_(page_bytes / sizeof(std::uint64_t)),
          array_(job.handle(), 2 * pages * words_, Homes::block, page_bytes, protocol) {}

    std::size_t pages() const { return pages_; }
    std::size_t words() const { return words_; }
    std::uint64_t* page(std::size_t number) { return &array_[(pages_ + number) * words_]; }
    kumiki_shared_counters counters() const { return array_.counters(); }

    /// Rank 1 writes to every page, so that afterwards rank 0 has no copy of any. Collective.
    void change() {
        ++generation_;
        if (job_.rank() == 1)
            for (std::size_t number = 0; number < pages_; ++number) *page(number) = generation_ + number;
        job_.shared_barrier();
    }
    /// Rank 0 reads every page once; whether it sees what rank 1 wrote last.
    bool read() {
        bool right = true;
        for (std::size_t turn = 0; turn < pages_; ++turn) {
            const std::size_t number = scattered(turn, pages_);
            right = *static_cast<const volatile std::uint64_t*>(page(number)) == generation_ + number && right;
        }
        return right;
    }
    /// The sum of all words, if nobody but rank 1 has written.
    std::uint64_t sum() const { return pages_ * generation_ + pages_ * (pages_ - 1) / 2; }
    /// Gives rank 0 copies that stay until somebody writes: the home finds out at a barrier that pages have been
    /// fetched, and announces them once. Returns whether the pages are right. Collective.
    bool give_copies() {
        bool right = true;
        for (int time = 0; time < 3; ++time) {
            if (job_.rank() == 0) right = read() && right;
            job_.shared_barrier();
        }
        return right;
    }

private:
    Job& job_;
    std::size_t pages_, words_;
    SharedArray<std::uint64_t> array_;
    std::uint64_t generation_ = 0;
};

} // namespace kumiki::bench
