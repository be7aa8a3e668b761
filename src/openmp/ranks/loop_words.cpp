#include "openmp/ranks/ranks.hpp"

/// Loops with dependences (ordered(n)), whose threads tell each other in words of the program's heap how far they are.
namespace kumiki::openmp {

/// The rank that comes first takes the memory. A rank may be many loops that do not wait ahead of another one; it then
/// waits until that has left an earlier loop.
std::uint64_t* Ranks::take_words(std::uint64_t loop, std::size_t count) {
    LoopWords& place = loop_words_[loop % loop_places];
    LoopWords found{};
    await_change([&] {
        acquire(loop_lock);
        if (place.loop == 0)
            place = {loop + 1, static_cast<std::uint64_t*>(heap_->allocate_zeros(count * sizeof loop)), 0};
        found = place;
        release(loop_lock);
        return found.loop == loop + 1 || is_cancelled(Cancelled::region);
    });
    if (found.loop != loop + 1) refuse("many loops with dependences in a region that is cancelled");
    if (found.words == nullptr) refuse("a loop with dependences, for whose iterations there is no memory");
    return found.words;
}

void Ranks::give_words(std::uint64_t loop) {
    posts_.tell_all(); // while the words are there
    LoopWords& place = loop_words_[loop % loop_places];
    acquire(loop_lock);
    const bool is_known = place.loop == loop + 1; // else its region was cancelled
    if (is_known && ++place.left == fabric_->size()) {
        heap_->release(place.words);
        place = {};
    }
    release(loop_lock);
    announce();
}

void Ranks::forget_loops() {
    acquire(loop_lock);
    for (LoopWords& place : std::span(loop_words_, loop_places)) {
        if (place.loop != 0) heap_->release(place.words);
        place = {};
    }
    release(loop_lock);
}

void Ranks::post(const LoopWord& word, std::uint64_t value) {
    fabric_->progress().ring(rank()); // its own threads look at what is known here
    posts_.add(word, value);
}

/// What the rank has written before goes with the locks to the threads that wait.
void Ranks::tell(const Posts::All& posts) {
    const SignalsLater later;
    for (auto next = posts.begin(); next != posts.end();) {
        const std::uint64_t* const block = next->second.word.block.data();
        const int guard = guard_of(block);
        acquire(guard);
        for (; next != posts.end() && next->second.word.block.data() == block; ++next) {
            const auto& [word, value] = next->second;
            *word.shared = word.with(*word.shared, value);
        }
        release(guard);
    }
    announce();
}

void Ranks::await(const LoopWord& word, std::uint64_t value) {
    const SignalsLater later;
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads);
    const int guard = guard_of(word.block.data());
    for (;;) {
        const std::uint64_t seen = words_->announced(); // before the look: a change after it ends the wait
        if (word.reaches(value) || is_cancelled(Cancelled::region)) return;
        acquire(guard);
        word.learn();
        release(guard);
        if (word.reaches(value)) return;
        fabric_->progress().wait([&] { return words_->announced() != seen || word.reaches(value); });
    }
}

} // namespace kumiki::openmp
