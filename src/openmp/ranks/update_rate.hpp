#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kumiki::openmp {

/// How often a thread makes atomic updates whose results the program does not use, compared with how often it
/// synchronises. If it makes many in between, it counts or sums up: when others see each of its updates hardly matters,
/// and a message for each would take nearly all of its time. If it makes few, they need not be gathered: then a page
/// would be fetched for them. And a thread that has made only a few so far may use them to tell others something.
///
/// Others may still look now and then whether a sum is large enough. So a thread that gathers makes an update in order
/// from time to time, which brings its updates to their homes, and those of others to it.
class UpdateRate {
public:
    using Clock = std::chrono::steady_clock;

    static UpdateRate& of_this_thread() {
        static thread_local UpdateRate rate;
        return rate;
    }

    /// The thread makes one, of a floating-point number (by which threads hardly ever tell anything) or of an integer.
    /// `meetings`: how often all threads have met. Returns whether it is to be gathered.
    bool update(bool is_real, std::uint64_t meetings) {
        if (meetings != meetings_) synchronise();
        meetings_ = meetings;
        if (!is_real && integers_ < few) {
            ++integers_;
            return false;
        }
        const bool is_often = since_ >= often;
        since_ = std::min(since_ + 1, most);
        return is_often && !is_due();
    }
    /// Whether an update that could be gathered is to be made in order.
    bool is_due() { return ++gathered_ % between_looks == 0 && Clock::now() >= until_; }
    /// The thread has begun an update in order at that time, and made it.
    void made_in_order(Clock::time_point began) {
        const auto now = Clock::now();
        until_ = now + std::max<Clock::duration>(shortest, (now - began) * most_part);
    }
    /// The thread does what orders memory.
    void synchronise() { since_ /= 2; }

private:
    static constexpr unsigned few = 64, often = 16, most = 4 * often;
    static constexpr unsigned between_looks = 64; ///< at the clock
    static constexpr std::chrono::milliseconds shortest{1};
    /// Updates in order take at most one part of so many of the time: the pages that the thread fetches again behind
    /// one take several times as long as it does.
    static constexpr int most_part = 50;
    unsigned integers_ = 0; ///< up to `few`
    unsigned since_ = 0;    ///< the updates since it synchronised, and half of those before
    unsigned gathered_ = 0;
    Clock::time_point until_{};
    std::uint64_t meetings_ = 0;
};

} // namespace kumiki::openmp
