#include "openmp/doacross.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "openmp/other_ranks.hpp"
#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

/// Each guard is a message, or more, when what threads have told goes to the other ranks.
constexpr std::size_t most_guards = 64;

} // namespace

SharedWords::SharedWords(OtherRanks& other_ranks, std::uint64_t construct, std::size_t count)
    : others(other_ranks), number(construct), words(other_ranks.take_words(construct, count)) {}

SharedWords::~SharedWords() { others.give_words(number); }

std::uint64_t LoopWord::with(std::uint64_t before, std::uint64_t value) const {
    return has_bits ? before | value : std::max(before, value);
}

bool LoopWord::reaches(std::uint64_t value) const {
    const std::uint64_t found = known->load(std::memory_order_acquire) & ~awaited;
    return with(found, value) == found;
}

bool LoopWord::reaches_or_waits(std::uint64_t value) const {
    if ((known->load(std::memory_order_relaxed) & awaited) == 0) known->fetch_or(awaited, std::memory_order_acq_rel);
    return reaches(value);
}

bool LoopWord::raise(std::uint64_t value) const { return raise(*known, value); }

bool LoopWord::raise(std::atomic<std::uint64_t>& word, std::uint64_t value) const {
    std::uint64_t before = word.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint64_t raised = with(before & ~awaited, value);
        if (raised == (before & ~awaited)) return false;
        if (word.compare_exchange_weak(before, raised, std::memory_order_acq_rel)) return (before & awaited) != 0;
    }
}

void LoopWord::learn() const {
    std::atomic<std::uint64_t>* first = known - (shared - block.data());
    for (const std::uint64_t value : block) raise(*first++, value);
}

Doacross::Doacross(std::vector<std::uint64_t> counts, std::uint64_t part, OtherRanks* others, std::uint64_t construct)
    : counts_(std::move(counts)), part_(part) {
    const std::uint64_t iterations =
        std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{1}, std::multiplies<>());
    words_ = (part_ != 0 ? counts_[0] / part_ : iterations / bits_of_word) + 1;
    block_ = words_ / most_guards + 1;
    known_ = std::make_unique<std::atomic<std::uint64_t>[]>(words_);
    if (others != nullptr) shared_ = std::make_unique<SharedWords>(*others, construct, words_);
}

Doacross::Place Doacross::place(std::size_t index, std::uint64_t value) const {
    Place found{{&known_[index], part_ == 0}, value};
    if (shared_) {
        found.word.shared = shared_->words + index;
        const std::size_t first = index / block_ * block_;
        found.word.block = {shared_->words + first, std::min(block_, words_ - first)};
    }
    return found;
}

void Doacross::post(const Member& me, const std::uint64_t* iteration) const {
    const auto next = [&iteration] { return *iteration++; };
    const auto [word, value] = place(next);
    const bool is_awaited = word.raise(value);
    if (shared_) shared_->others.post(word, value);
    else if (is_awaited) me.team.ring();
}

void Doacross::await(const Member& me, const Place& place) const {
    const auto& [word, value] = place;
    if (word.reaches(value)) return;
    if (shared_) return shared_->others.await(word, value);
    const Team& team = me.team;
    wait::wait(me.team.bell(), team.patience(), [&word = word, value = value, &team] {
        return word.reaches_or_waits(value) || team.cancelled() || team.workshare_cancelled();
    });
}

} // namespace kumiki::openmp
