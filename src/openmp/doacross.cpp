#include "openmp/doacross.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "openmp/other_ranks.hpp"
#include "openmp/team.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::uint64_t bits_of_word = 64;

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
    const std::uint64_t found = known->load(std::memory_order_acquire);
    return with(found, value) == found;
}

void LoopWord::raise(std::uint64_t value) const { raise(*known, value); }

void LoopWord::raise(std::atomic<std::uint64_t>& word, std::uint64_t value) const {
    std::uint64_t before = word.load(std::memory_order_relaxed);
    while (with(before, value) != before &&
           !word.compare_exchange_weak(before, with(before, value), std::memory_order_acq_rel)) {}
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

Doacross::Place Doacross::place(const std::uint64_t* iteration) const {
    std::uint64_t number = part_ != 0 ? iteration[0] % part_ : iteration[0];
    for (std::size_t i = 1; i < counts_.size(); ++i) number = number * counts_[i] + iteration[i];
    const std::size_t index = part_ != 0 ? iteration[0] / part_ : number / bits_of_word;
    Place found{{&known_[index], part_ == 0}, part_ != 0 ? number + 1 : std::uint64_t{1} << number % bits_of_word};
    if (shared_) {
        found.word.shared = shared_->words + index;
        const std::size_t first = index / block_ * block_;
        found.word.block = {shared_->words + first, std::min(block_, words_ - first)};
    }
    return found;
}

void Doacross::post(const Member& me, const std::uint64_t* iteration) const {
    const auto [word, value] = place(iteration);
    word.raise(value);
    if (shared_) shared_->others.post(word, value);
    else me.team.ring();
}

void Doacross::await(const Member& me, const std::uint64_t* iteration) const {
    const auto [word, value] = place(iteration);
    const auto is_done = [&word = word, value = value] { return word.reaches(value); };
    if (is_done()) return;
    if (shared_) return shared_->others.await(word, value);
    const Team& team = me.team;
    wait::wait(me.team.bell(), team.patience(),
               [&] { return is_done() || team.cancelled() || team.workshare_cancelled(); });
}

} // namespace kumiki::openmp
