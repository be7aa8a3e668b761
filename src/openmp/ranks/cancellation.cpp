#include <algorithm>
#include <utility>

#include "openmp/process.hpp"
#include "openmp/ranks/ranks.hpp"

/// Cancellation of regions, loops and sections on all ranks, with OMP_CANCELLATION=true only. (Tasks of a group that
/// may be cancelled stay in the rank that creates them.)
///
/// What is cancelled is named by a number that all ranks have: of the meeting that began the region, or of the last one
/// before the loop or the sections, at whose end all meet. The thread that cancels stores this number in a word of each
/// rank, where threads look at their cancellation points. It is out of date by itself when the ranks have met again.
///
/// In a region that is cancelled some ranks have come to its end while others are at a barrier inside it, and so they
/// meet each other there. Therefore each rank tells all others before it meets them at the end of a region. A rank that
/// finds, after a barrier, that another one was at its end, knows that the region is cancelled; and one at its end that
/// finds others were not meets them again, until all were. So all ranks meet equally often.
namespace kumiki::openmp {
namespace {

constexpr unsigned meeting_shift = 32;

std::uint32_t meeting_in(std::uint64_t told) { return static_cast<std::uint32_t>(told >> meeting_shift); }

std::uint32_t word_of(OtherRanks::Cancelled what) {
    return what == OtherRanks::Cancelled::region ? Words::cancelled_region : Words::cancelled_share;
}

} // namespace

/// One for meetings with even numbers and one for the others: a rank may be one meeting ahead of another that has not
/// looked yet.
std::uint32_t Ranks::end_word(int rank, std::uint64_t meeting) const {
    return Words::returned + static_cast<std::uint32_t>(fabric_->size() * (1 + static_cast<int>(meeting % 2)) + rank);
}

template <class Each>
void Ranks::for_each_other(Each each) const {
    for (int other = 0; other < fabric_->size(); ++other)
        if (other != rank()) each(other);
}

std::uint64_t Ranks::number_of(Cancelled what) const {
    return what == Cancelled::region ? region_meeting_ : meetings_.load(std::memory_order_relaxed);
}

void Ranks::cancel(Cancelled what) {
    for (int rank = 0; rank < fabric_->size(); ++rank) words_->store(word_of(what), number_of(what), rank);
    announce();
}

bool Ranks::is_cancelled(Cancelled what) const {
    return process().environment().cancellation && words_->own(word_of(what)) == number_of(what);
}

/// The number of the next claim is in what a rank tells, because a region that is cancelled may leave ranks with
/// different ones.
void Ranks::meet_at_end(std::uint64_t next_claim) {
    bool all = false;
    while (!std::exchange(all, true)) {
        const std::uint64_t meeting = meetings_.load(std::memory_order_relaxed) + 1;
        const std::uint64_t told = meeting << meeting_shift | static_cast<std::uint32_t>(next_claim);
        for_each_other([&](int other) { words_->store(end_word(rank(), meeting), told, other); });
        if (region_exchanges_tasks_) tasks_->tell_quiet(tasks_->interval()); // those at a barrier may wait for it
        meet(nullptr);
        for_each_other([&](int other) { all = all && has_ended(other); });
    }
    next_claim_ = next_claim;
    for_each_other([&](int other) {
        const auto told = words_->own(end_word(other, meetings_.load(std::memory_order_relaxed)));
        next_claim_ = std::max<std::uint64_t>(next_claim_, static_cast<std::uint32_t>(told));
    });
    if (rank() == 0 && is_cancelled(Cancelled::region)) forget_loops();
}

bool Ranks::has_ended(int other) const {
    const std::uint64_t meeting = meetings_.load(std::memory_order_relaxed);
    return meeting_in(words_->own(end_word(other, meeting))) == static_cast<std::uint32_t>(meeting);
}

bool Ranks::another_has_ended() const {
    bool one = false;
    if (process().environment().cancellation) for_each_other([&](int other) { one = one || has_ended(other); });
    return one;
}

} // namespace kumiki::openmp
