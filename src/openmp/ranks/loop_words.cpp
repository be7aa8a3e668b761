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

/// What the rank has written before goes with the lock to the thread that waits.
void Ranks::post(std::uint64_t& word, std::uint64_t value) {
    const int guard = guard_of(&word);
    acquire(guard);
    word = value;
    release(guard);
    announce();
}

void Ranks::await(const std::uint64_t& word, std::uint64_t value) {
    const int guard = guard_of(&word);
    await_change([&] {
        acquire(guard);
        const bool reached = word >= value;
        release(guard);
        return reached || is_cancelled(Cancelled::region);
    });
}

} // namespace kumiki::openmp
