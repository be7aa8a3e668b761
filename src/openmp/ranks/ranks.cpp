#include "openmp/ranks/ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <stdio_ext.h>
#include <thread>
#include <utility>

#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/memory/objects.hpp"
#include "openmp/ranks/process/descriptors.hpp"
#include "openmp/ranks/process/signals.hpp"
#include "openmp/ranks/update_rate.hpp"
#include "openmp/team.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

// A word of a loop: which loop it is, and the next iteration.
constexpr int tag_shift = 40;
constexpr std::uint64_t iteration_mask = OtherRanks::most_iterations - 1;
constexpr std::uint64_t ended = ~std::uint64_t{0};
constexpr std::uint64_t slots = 16; ///< words of each kind; loops that do not wait may be as many apart

std::uint64_t tag_of(std::uint64_t loop) { return (loop + 1) << tag_shift >> tag_shift; }

} // namespace

// -- threads and regions --

Result<pthread_t> Ranks::start_first_thread(void* (*function)(void*), void* argument) {
    return stacks_->start(0, function, argument);
}

Result<pthread_t> Ranks::start_thread(int number, void* (*function)(void*), void* argument) {
    used_stacks_[number].store(true);
    return stacks_->start(number, &run_on_stack, new OnStack{this, number, function, argument});
}

/// The stack is free again when the thread has ended: the thread that starts the next one has waited for that. Signals
/// that are sent to the process go to the thread that runs main, which the system would choose if it were the first
/// one.
void* Ranks::run_on_stack(void* on_stack) {
    leave_signals_to_others();
    const OnStack thread = *static_cast<OnStack*>(on_stack);
    delete static_cast<OnStack*>(on_stack);
    void* const result = thread.function(thread.argument);
    thread.ranks->used_stacks_[thread.number].store(false);
    return result;
}

/// In proportion to the threads that the ranks have.
Part Ranks::part_of(int rank, int threads) const {
    const auto border = [&](int of) {
        return static_cast<int>(std::int64_t{threads} * firsts_[static_cast<std::size_t>(of)] / firsts_.back());
    };
    return {border(rank), border(rank + 1) - border(rank)};
}

/// The threads of the first rank alone are faster than a few of all ranks.
bool Ranks::spans(int threads) const {
    if (threads <= firsts_[1]) return false;
    for (int rank = 0; rank < fabric_->size(); ++rank) {
        const int own = part_of(rank, threads).count;
        if (own == 0 || own > stacks_->others()) return false;
    }
    return true;
}

void Ranks::exchange(ForkNotice& fork) {
    end_rest();
    note_region(nullptr, last_meeting_);
    meet(std::as_writable_bytes(std::span(&fork, 1)));
    note_region(fork.code, explain::Timed::Clock::now());
    region_meeting_ = meetings_.load(std::memory_order_relaxed);
    region_exchanges_tasks_ = fork.exchanges_tasks;
    if (measures_) measure();
    // Nothing of the program runs at any rank now.
    if (std::exchange(opens_at_first_region_, false)) open_homes();
    region_ = reinterpret_cast<std::uintptr_t>(fork.code);
    begin_interval(region_);
}

void Ranks::open_homes() {
    for (const Variables& each : variables_) open_homes(each);
    check(shared_.open_homes(heap_->begin(), 0));
}

/// Variables that have homes of their own keep them.
void Ranks::open_homes(const Variables& variables) {
    const std::size_t page = platform::page_size();
    std::size_t begin = 0;
    const auto open_to = [&](std::size_t end) {
        if (begin < end) check(shared_.open_homes(variables.memory.data() + begin * page, end - begin));
    };
    for (const dsm::HomeRun& run : variables.special_homes) {
        open_to(run.first);
        begin = std::max(begin, run.first + run.count);
    }
    open_to(variables.memory.size() / page);
}

void Ranks::fork(const ForkNotice& fork) {
    ForkNotice copy = fork;
    copy.seeds = random_numbers_.seeds();
    if (fork.function != nullptr) {
        if (!is_program(fork.code)) refuse_late_code(fork.code);
        copy.process_state = process_state_->values();
    }
    exchange(copy);
}

/// From then on this rank executes this region, or, without code, what is between regions. A region ends with the
/// last meeting before the next one, which is known only then.
void Ranks::note_region(const void* code, explain::Timed::Clock::time_point begin) {
    if (!record_) return;
    record_->tally(explain::Tallied::region, record_->region(), begin - region_began_);
    region_began_ = begin;
    record_->enter_region(reinterpret_cast<std::uintptr_t>(code));
}

ForkNotice Ranks::await_fork() {
    ForkNotice fork;
    exchange(fork);
    random_numbers_.take_in(fork.seeds);
    if (fork.process_state != nullptr)
        process_state_->take_in(static_cast<const ProcessState::Values*>(fork.process_state));
    return fork;
}

/// Intervals are told apart by the code at which they begin. The one after a region has no code of its own.
void Ranks::meet(const void* code) {
    meet(std::span<std::byte>());
    begin_interval(code != nullptr ? reinterpret_cast<std::uintptr_t>(code) : region_ + 1);
}

bool Ranks::meet_in_region(const void* code) {
    meet(code);
    return another_has_ended();
}

void Ranks::begin_interval(std::uint64_t place) {
    const SignalsLater later;
    const explain::Timed timed(record_.get(), explain::Tallied::region_wait, record_ ? record_->region() : 0);
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::barriers);
    shared_.begin_interval(place);
    interval_.store(meetings_.load(std::memory_order_relaxed), std::memory_order_release);
}

/// What follows on the stack of the calling thread, if it runs on one that all ranks see, is the runtime's own.
void Ranks::meet(std::span<std::byte> of_rank_0) {
    const SignalsLater later;
    posts_.tell_all();
    if (kept_locks_) kept_locks_->give_all();
    if (waits_) flush();
    else flush_output();
    const std::vector<std::uint8_t*> met = take_bytes();
    const std::vector<Heap::Batch> freed = take_freed();
    const explain::Timed timed(record_.get(), explain::Tallied::region_wait, record_ ? record_->region() : 0);
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::barriers);
    meetings_.fetch_add(1, std::memory_order_relaxed);
    const bool begins_region = !of_rank_0.empty();
    check(shared_.barrier(
        {.message = of_rank_0, .root = 0, .stack = __builtin_frame_address(0), .ends_alone = begins_region}));
    for (std::uint8_t* const byte : met) *byte = 1;
    return_blocks(freed);
    streams_->take_in();
    streams_->remote_files()->forget_ends();
    if (record_) last_meeting_ = explain::Timed::Clock::now();
}

/// Each rank has a word at each other one, in which that one finds a batch of its blocks.
std::vector<Heap::Batch> Ranks::take_freed() {
    const auto own = Words::returned + static_cast<std::uint32_t>(rank());
    return heap_->pack_foreign([&](int owner) { return words_->load(own, owner) == 0; });
}

/// Behind a barrier, when the owners see the batches, and nothing is on its way to the blocks any more.
void Ranks::return_blocks(std::span<const Heap::Batch> freed) {
    const auto swap = [this](int of, std::uint64_t expected, std::uint64_t value, int at) {
        words_->compare_and_store(Words::returned + static_cast<std::uint32_t>(of), expected, value, at);
    };
    for (const Heap::Batch& batch : freed) swap(rank(), 0, reinterpret_cast<std::uintptr_t>(batch.blocks), batch.owner);
    for (int other = 0; other < fabric_->size(); ++other) {
        const auto batch = words_->load(Words::returned + static_cast<std::uint32_t>(other), rank());
        if (batch == 0) continue;
        swap(other, batch, 0, rank());
        heap_->take_back(reinterpret_cast<std::uint64_t*>(batch)); // NOLINT
    }
}

void Ranks::set_when_met(std::uint8_t& byte) {
    if (others_rest() || (leads() && in_outermost_region(self()) == nullptr)) {
        std::atomic_ref(byte).store(1, std::memory_order_release);
        return;
    }
    const std::lock_guard lock(bytes_mutex_);
    bytes_.push_back(&byte);
}

std::vector<std::uint8_t*> Ranks::take_bytes() {
    const std::lock_guard lock(bytes_mutex_);
    return std::exchange(bytes_, {});
}

/// What other ranks are about to see after this rank is printed before.
void Ranks::flush_output() {
    refuse_reading_input(*this); // other ranks must not see what was computed without it
    if (__fpending(stdout) != 0) std::fflush(stdout);
    standard_output_.take_place();
    streams_->release();
}

// -- constructs --

/// Rank 0 claims without a message, and is mostly the home of what such constructs write.
bool Ranks::claim_single(std::uint64_t number, bool is_alone) {
    if (is_alone && rank() != 0) return false;
    std::uint64_t found = words_->load(Words::single);
    return found == number && words_->compare_and_store(Words::single, found, number + 1);
}

/// The next iteration in a word of a loop. The first thread to look gives the word to the loop. If the word is a later
/// loop's, a thread has passed all iterations of this one.
std::uint64_t Ranks::look(std::uint32_t index, int rank, std::uint64_t tag) {
    constexpr std::uint64_t half = std::uint64_t{1} << (63 - tag_shift);
    std::uint64_t word = words_->load(index, rank);
    for (;;) {
        const std::uint64_t ahead = tag_of((word >> tag_shift) - tag - 1); // modulo the number of tags
        if (ahead == 0) return word & iteration_mask;
        if (ahead < half) return ended;
        if (words_->compare_and_store(index, word, tag << tag_shift, rank)) return 0;
    }
}

std::uint64_t Ranks::next_iteration(std::uint64_t loop, int owner) {
    return look(Words::claims + static_cast<std::uint32_t>(loop % slots), owner, tag_of(loop));
}

bool Ranks::take_iterations(std::uint64_t loop, int owner, std::uint64_t& begin, std::uint64_t end) {
    const auto index = Words::claims + static_cast<std::uint32_t>(loop % slots);
    const std::uint64_t tag = tag_of(loop) << tag_shift;
    std::uint64_t word = tag | begin;
    if (words_->compare_and_store(index, word, tag | end, owner)) {
        if (measures_) taken_.fetch_add(end - begin, std::memory_order_relaxed);
        return true;
    }
    begin = next_iteration(loop, owner);
    return false;
}

bool Ranks::begin_turn(std::uint64_t loop, std::uint64_t begin) {
    const auto index = Words::turns + static_cast<std::uint32_t>(loop % slots);
    bool comes = false;
    await_change([&] {
        comes = look(index, 0, tag_of(loop)) == begin;
        return comes || is_cancelled(Cancelled::region);
    });
    if (comes) acquire(ordered_lock); // it brings what the threads of the iterations before have written
    return comes;
}

void Ranks::end_turn(std::uint64_t loop, std::uint64_t end) {
    release(ordered_lock);
    words_->store(Words::turns + static_cast<std::uint32_t>(loop % slots), tag_of(loop) << tag_shift | end);
    announce();
}

// -- locks --

// The threads of a rank meet at a lock of its own first: only one of them waits for other ranks, which hold it for as
// long as the program wants, and only so many may wait at a time (dsm::Waiter).

// In a program in which threads wait for variables, what this rank has written comes to its homes under one lock only,
// and with it what it had written before. (A thread that passes output on, under stream_lock, is in the middle of
// another release, and would wait for itself.)

bool Ranks::is_ordered_by_another(int lock) const { return waits_ && lock != instruction_lock && lock != stream_lock; }

// When the job has been left, locks and what threads wait for still work among the threads of this process: those of a
// library live until its destructor has run.

void Ranks::acquire(int lock) {
    const SignalsLater later;
    here_first_[lock].enter();
    const InJob in_job(*this);
    if (!in_job || (may_be_taken_at_rest(lock) && at_rest_.take(lock))) return;
    const bool may_be_kept = may_keep(lock);
    held_.fetch_add(1, std::memory_order_relaxed);
    if (may_be_kept && kept_locks_->take(lock)) return;
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads);
    const int under = is_ordered_by_another(lock) ? instruction_lock : dsm::Locks::no_lock;
    const bool is_flush = lock == instruction_lock && variable_wait_;
    check(locks_->acquire(lock, under, is_flush ? variable_wait_->wanted() : std::nullopt));
    if (may_be_kept) kept_locks_->acquired(lock);
    if (lock != stream_lock) streams_->take_in();
}

bool Ranks::try_acquire(int lock) {
    const SignalsLater later;
    if (!here_first_[lock].try_enter()) return false;
    const InJob in_job(*this);
    if (!in_job || (may_be_taken_at_rest(lock) && at_rest_.take(lock))) return true;
    if (may_keep(lock) && kept_locks_->take(lock)) {
        held_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads);
    const auto taken = locks_->try_acquire(lock, is_ordered_by_another(lock) ? instruction_lock : dsm::Locks::no_lock);
    if (!taken) check(tl::unexpected(taken.error()));
    if (*taken) {
        held_.fetch_add(1, std::memory_order_relaxed);
        streams_->take_in();
    } else {
        here_first_[lock].leave();
    }
    return *taken;
}

void Ranks::release(int lock) {
    const SignalsLater later;
    const InJob in_job(*this);
    if (!in_job || at_rest_.leave(lock)) return here_first_[lock].leave();
    held_.fetch_sub(1, std::memory_order_relaxed);
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads);
    if (lock != instruction_lock) UpdateRate::of_this_thread().synchronise();
    if (may_keep(lock) && kept_locks_->keep(lock)) {
        here_first_[lock].leave();
        return kept_locks_->left(lock);
    }
    give_to_others(lock);
}

void Ranks::give_to_others(int lock) {
    const bool ordered = is_ordered_by_another(lock);
    if (ordered) acquire(instruction_lock);
    if (lock != stream_lock) flush_output();
    if (lock == instruction_lock && variable_wait_) variable_wait_->renew();
    const auto released = locks_->release(lock);
    if (!released && released.error().status == KUMIKI_ERROR_STATE)
        refuse("a lock that one thread enters and another one leaves");
    check(released);
    here_first_[lock].leave();
    if (ordered) release(instruction_lock);
}

void Ranks::flush() {
    if (others_rest()) return;
    const SignalsLater later;
    UpdateRate::of_this_thread().synchronise();
    acquire(instruction_lock);
    release(instruction_lock);
}

Result<> Ranks::expect_waits() {
    if (std::exchange(waits_, true)) return {};
    if (!dsm::VariableWait::suits(shared_)) return {};
    auto started = dsm::VariableWait::start(shared_, *locks_, instruction_lock, [this] { flush(); });
    if (!started) return tl::unexpected(started.error());
    variable_wait_ = std::move(*started);
    return {};
}

void Ranks::look_again(const void* place, const void* variable) {
    if (others_rest()) {
        std::this_thread::yield(); // the thread for which it waits may have this processor
        return;
    }
    const SignalsLater later;
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads);
    if (variable_wait_) variable_wait_->look_again(place, variable);
    else flush();
}

// -- failures --

/// Nothing that calls the runtime could do without what has failed.
void Ranks::check(const Result<>& result) const {
    if (result) return;
    say(fmt::format("rank {} ends: {}", rank(), result.error().message));
    std::_Exit(1);
}

void Ranks::refuse_late_code(const void* code) {
    const char* const file = file_at(code).dli_fname;
    openmp::refuse(fmt::format("{0} has a parallel region, but it was loaded (dlopen) after the program had begun, so "
                               "the other processes do not have it; let it be loaded at the start: LD_PRELOAD={0}",
                               file != nullptr ? file : "a library"));
}

void Ranks::refuse(const char* what) const {
    openmp::refuse(fmt::format("rank {}: the program uses {}, which is not possible over several processes so far; run "
                               "it as one (without KUMIKI_SHARED_COPIES=rank and hosts)",
                               rank(), what));
}

} // namespace kumiki::openmp
