#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kumiki::openmp {

class OtherRanks;
struct Member;

/// Words, at first zero, that the threads of all ranks share in a construct of this number.
struct SharedWords {
    SharedWords(OtherRanks& other_ranks, std::uint64_t construct, std::size_t count);
    ~SharedWords();
    SharedWords(const SharedWords&) = delete;
    SharedWords& operator=(const SharedWords&) = delete;

    OtherRanks& others;
    const std::uint64_t number;
    std::uint64_t* const words;
};

/// A word that tells which iterations of a loop with dependences are done: by their number, or by a bit for each.
struct LoopWord {
    std::atomic<std::uint64_t>* known; ///< to this process
    bool has_bits;
    std::uint64_t* shared = nullptr;  ///< with the other ranks; null: there are none
    std::span<std::uint64_t> block{}; ///< all shared words with the same guard

    /// The bit of `known` that is none of the value: a thread waits for the word.
    static constexpr std::uint64_t awaited = std::uint64_t{1} << 63;

    /// What a word that was `before` says when `value` is reached, too.
    std::uint64_t with(std::uint64_t before, std::uint64_t value) const;
    /// acquire: the calling thread sees what a thread had seen or written before it raised the word.
    bool reaches(std::uint64_t value) const;
    /// The same, by a thread that is about to wait. It either finds what another thread has raised, or that one finds
    /// that it waits: both change the word.
    bool reaches_or_waits(std::uint64_t value) const;
    /// Returns whether a thread waits for the word, and must look again.
    bool raise(std::uint64_t value) const;
    /// Lets this process know what the shared words of the block say; by a thread that has their guard.
    void learn() const;

private:
    bool raise(std::atomic<std::uint64_t>& word, std::uint64_t value) const;
};

/// The dependences of a loop with ordered(n): an iteration may wait for others, which are named by their numbers in all
/// n loops (doacross).
class Doacross {
public:
    /// `counts`: iterations of each of the n loops. `part`: how many of the outermost loop one thread is sure to have
    /// at a time. Within a part iterations end in order, so one number says which are done. 0: nothing is sure, and
    /// each iteration has a bit. `others`: null if all threads are of this process. `construct`: the loop's number.
    Doacross(std::vector<std::uint64_t> counts, std::uint64_t part, OtherRanks* others, std::uint64_t construct);

    /// Tells all threads that an iteration is done.
    void post(const Member& me, const std::uint64_t* iteration) const;
    /// Waits for that, or until the region or the loop is cancelled. `next` returns the iteration's numbers, one by
    /// one.
    template <class Next>
    void await(const Member& me, Next next) const {
        await(me, place(next));
    }

private:
    static constexpr std::uint64_t bits_of_word = 63; ///< but for `awaited`
    struct Place {
        LoopWord word;
        std::uint64_t value;
    };
    template <class Next>
    Place place(Next& next) const;
    Place place(std::size_t index, std::uint64_t value) const;
    void await(const Member& me, const Place& place) const;

    std::vector<std::uint64_t> counts_;
    std::uint64_t part_;
    std::size_t words_, block_; ///< all, and those with one guard
    std::unique_ptr<std::atomic<std::uint64_t>[]> known_;
    std::unique_ptr<SharedWords> shared_; ///< null: all threads are of this process
};

template <class Next>
Doacross::Place Doacross::place(Next& next) const {
    const std::uint64_t outermost = next();
    const std::uint64_t part = part_ > 1 ? outermost / part_ : outermost;
    std::uint64_t number = part_ == 0 ? outermost : outermost - part * part_;
    for (std::size_t i = 1; i < counts_.size(); ++i) number = number * counts_[i] + next();
    if (part_ != 0) return place(part, number + 1);
    return place(number / bits_of_word, std::uint64_t{1} << number % bits_of_word);
}

} // namespace kumiki::openmp
