#pragma once

#include <algorithm>
#include <cstdint>

namespace kumiki::openmp {

/// How often a thread makes atomic updates whose results the program does not use, compared with how often it
/// synchronises. If it makes many in between, it counts or sums up: when others see each of its updates does not
/// matter, and a message for each would take nearly all of its time. If it makes few, they need not be gathered: then a
/// page would be fetched for them. And a thread that has made only a few so far may use them to tell others something.
class UpdateRate {
public:
    static UpdateRate& of_this_thread() {
        static thread_local UpdateRate rate;
        return rate;
    }

    /// The thread makes one, of a floating-point number (by which threads hardly ever tell anything) or of an integer.
    /// `meetings`: how often all threads have met. Returns whether it makes many.
    bool update(bool is_real, std::uint64_t meetings) {
        if (meetings != meetings_) synchronise();
        meetings_ = meetings;
        if (!is_real && integers_ < few) {
            ++integers_;
            return false;
        }
        const bool is_often = since_ >= often;
        since_ = std::min(since_ + 1, most);
        return is_often;
    }
    /// The thread does what orders memory.
    void synchronise() { since_ /= 2; }

private:
    static constexpr unsigned few = 64, often = 16, most = 4 * often;
    unsigned integers_ = 0; ///< up to `few`
    unsigned since_ = 0;    ///< the updates since it synchronised, and half of those before
    std::uint64_t meetings_ = 0;
};

} // namespace kumiki::openmp
