#include "openmp/ranks/ranks.hpp"

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <sched.h>
#include <stdio_ext.h>
#include <thread>
#include <unistd.h>

#include "openmp/process.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

// A word of a loop: which loop it is, and the next iteration.
constexpr int tag_shift = 40;
constexpr std::uint64_t iteration_mask = OtherRanks::most_iterations - 1;
constexpr std::uint64_t ended = ~std::uint64_t{0};
constexpr std::uint64_t slots = 16; ///< words of each kind; loops that do not wait may be as many apart

std::uint64_t tag_of(std::uint64_t loop) { return (loop + 1) << tag_shift >> tag_shift; }

/// What other ranks are about to see after this rank is printed before.
void flush_output() {
    if (__fpending(stdout) != 0) std::fflush(stdout);
}

/// Waits a little, in vain for the `round`-th time.
void pause(int round) {
    if (round < 100) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(std::min(round, 1000)));
}

} // namespace

// -- the job --

Ranks::Ranks(std::unique_ptr<fabric::Fabric> fabric, const Settings& settings)
    : fabric_(std::move(fabric)),
      collectives_(fabric_->everybody()),
      shared_(*fabric_, collectives_,
              {.copies = CopyHolder::rank, .faults = settings.shared_faults, .system_calls = false}) {
    std::vector<int> threads;
    for (int rank = 0; rank < settings.size; ++rank)
        threads.push_back(std::max(1, Settings::of_rank(settings.job_threads, rank)));
    firsts_.assign(threads.size() + 1, 0);
    std::inclusive_scan(threads.begin(), threads.end(), firsts_.begin() + 1);
}

Result<std::unique_ptr<Ranks>> Ranks::join(const Settings& settings, const Image& image) {
    auto fabric = fabric::Fabric::join(settings);
    if (!fabric) return tl::unexpected(fabric.error());
    std::unique_ptr<Ranks> ranks(new Ranks(std::move(*fabric), settings));
    if (auto same = ranks->compare_layouts(image); !same) return tl::unexpected(same.error());
    if (auto counted = ranks->count_processors(); !counted) return tl::unexpected(counted.error());
    if (auto shared = ranks->share_memory(image); !shared) return tl::unexpected(shared.error());
    return ranks;
}

Result<> Ranks::compare_layouts(const Image& image) {
    const auto size = static_cast<std::size_t>(fabric_->size());
    std::vector<std::uint64_t> layouts(size);
    if (auto met = collectives_.all_gather(&image.layout, sizeof image.layout, layouts.data(),
                                           collective::Collectives::Pieces::equal(sizeof image.layout));
        !met)
        return met;
    const auto other = std::ranges::find_if(layouts, [&](std::uint64_t each) { return each != layouts.front(); });
    if (other == layouts.end()) return {};
    return fail(
        KUMIKI_ERROR_ENVIRONMENT,
        fmt::format("rank {} has loaded the program or a library at other addresses than rank 0, or another "
                    "version of it; use the same files and the same limit of the stack (ulimit -s) at all ranks, "
                    "and let the kernel load them without randomised addresses (personality, which containers "
                    "may forbid)",
                    other - layouts.begin()));
}

/// Ranks of a host may share processors.
Result<> Ranks::count_processors() {
    using Cpus = std::bitset<CPU_SETSIZE>;
    struct OfRank {
        int leader = 0; ///< of the rank's host
        Cpus cpus;
    } mine;
    const fabric::Group& all = fabric_->everybody();
    mine.leader = all.leader(all.own_host());
    for (const int cpu : process().environment().cpus)
        if (cpu < CPU_SETSIZE) mine.cpus.set(static_cast<std::size_t>(cpu));
    std::vector<OfRank> ranks(static_cast<std::size_t>(fabric_->size()));
    if (auto met = collectives_.all_gather(&mine, sizeof mine, ranks.data(),
                                           collective::Collectives::Pieces::equal(sizeof mine));
        !met)
        return met;
    std::map<int, Cpus> hosts;
    for (const OfRank& each : ranks) hosts[each.leader] |= each.cpus;
    processors_ = 0;
    for (const auto& [leader, cpus] : hosts) processors_ += static_cast<int>(cpus.count());
    return {};
}

Result<> Ranks::share_memory(const Image& image) {
    auto words = collectives_.allocate(Words::bytes());
    if (!words) return tl::unexpected(words.error());
    words_.emplace(*fabric_, static_cast<std::byte*>(*words));

    const auto ranks = static_cast<std::size_t>(fabric_->size());
    int most = 1;
    for (std::size_t rank = 0; rank < ranks; ++rank) most = std::max(most, firsts_[rank + 1] - firsts_[rank]);
    const auto lengths = Stacks::lengths_for(most, process().environment().stack_bytes);
    auto stacks = shared_.allocate_open(ranks * lengths.bytes(), dsm::Placement::block);
    if (!stacks) return tl::unexpected(stacks.error());
    stacks_.emplace(static_cast<std::byte*>(*stacks) + static_cast<std::size_t>(rank()) * lengths.bytes(), lengths);

    const std::size_t page = platform::page_size();
    // Each rank may come to hold a copy of everything; rank 0 decides for all.
    std::uint64_t slice = std::min<std::uint64_t>(fabric_->memory().header().arena_bytes / 2,
                                                  platform::available_memory() / 10 * 6 / ranks) /
                          ranks / page * page;
    if (auto met = collectives_.broadcast(&slice, sizeof slice, 0); !met) return met;
    auto heap = shared_.allocate_open(ranks * slice, dsm::Placement::block);
    if (!heap) return tl::unexpected(heap.error());
    auto* const begin = static_cast<std::byte*>(*heap);
    heap_.emplace(std::span(begin, ranks * slice), std::span(begin + static_cast<std::size_t>(rank()) * slice, slice));

    auto locks = shared_.locks("openmp");
    if (!locks) return tl::unexpected(locks.error());
    locks_ = *locks;
    if (image.data.empty()) return {};
    return shared_.adopt(image.data, dsm::Placement::first_rank);
}

void Ranks::leave() {
    flush_output();
    check(collectives_.leave());
    fabric_->leave();
    // The memory of the program stays, and so do all objects that hold it; but UCX must not be in use any more when the
    // process ends, and what this rank has sent must have arrived.
    if (auto* const network = fabric_->network()) network->~Network();
}

// -- threads and regions --

Result<pthread_t> Ranks::start_first_thread(void* (*function)(void*), void* argument) {
    return stacks_->start(0, function, argument);
}

Result<pthread_t> Ranks::start_thread(int number, void* (*function)(void*), void* argument) {
    return stacks_->start(number, function, argument);
}

/// In proportion to the threads that the ranks have.
Part Ranks::part(int threads) const {
    const auto border = [&](int rank) {
        return static_cast<int>(std::int64_t{threads} * firsts_[static_cast<std::size_t>(rank)] / firsts_.back());
    };
    return {border(rank()), border(rank() + 1) - border(rank())};
}

/// The threads of the first rank alone are faster than a few of all ranks.
bool Ranks::spans(int threads) const {
    if (threads <= firsts_[1]) return false;
    for (std::size_t rank = 0; rank + 1 < firsts_.size(); ++rank) {
        const std::int64_t begin = std::int64_t{threads} * firsts_[rank] / firsts_.back();
        const std::int64_t end = std::int64_t{threads} * firsts_[rank + 1] / firsts_.back();
        if (begin == end || end - begin > stacks_->others()) return false;
    }
    return true;
}

void Ranks::exchange(ForkNotice& fork) {
    meet();
    check(collectives_.broadcast(&fork, sizeof fork, 0));
}

void Ranks::fork(const ForkNotice& fork) {
    ForkNotice copy = fork;
    exchange(copy);
}

ForkNotice Ranks::await_fork() {
    ForkNotice fork;
    exchange(fork);
    return fork;
}

void Ranks::meet() {
    flush_output();
    check(shared_.barrier());
}

// -- constructs --

bool Ranks::claim_single(std::uint64_t number) {
    std::uint64_t found = words_->load(Words::single);
    return found == number && words_->compare_and_store(Words::single, found, number + 1);
}

/// The next iteration in a word of a loop. The first thread to look gives the word to the loop. If the word is a later
/// loop's, a thread has passed all iterations of this one.
std::uint64_t Ranks::look(std::uint32_t index, std::uint64_t tag) {
    constexpr std::uint64_t half = std::uint64_t{1} << (63 - tag_shift);
    std::uint64_t word = words_->load(index);
    for (;;) {
        const std::uint64_t ahead = tag_of((word >> tag_shift) - tag - 1); // modulo the number of tags
        if (ahead == 0) return word & iteration_mask;
        if (ahead < half) return ended;
        if (words_->compare_and_store(index, word, tag << tag_shift)) return 0;
    }
}

std::uint64_t Ranks::next_iteration(std::uint64_t loop) {
    return look(Words::claims + static_cast<std::uint32_t>(loop % slots), tag_of(loop));
}

bool Ranks::take_iterations(std::uint64_t loop, std::uint64_t& begin, std::uint64_t end) {
    const auto index = Words::claims + static_cast<std::uint32_t>(loop % slots);
    const std::uint64_t tag = tag_of(loop) << tag_shift;
    std::uint64_t word = tag | begin;
    if (words_->compare_and_store(index, word, tag | end)) return true;
    begin = next_iteration(loop);
    return false;
}

void Ranks::begin_turn(std::uint64_t loop, std::uint64_t begin) {
    const auto index = Words::turns + static_cast<std::uint32_t>(loop % slots);
    for (int round = 0; look(index, tag_of(loop)) != begin; ++round) pause(round);
    acquire(ordered_lock); // it brings what the threads of the iterations before have written
}

void Ranks::end_turn(std::uint64_t loop, std::uint64_t end) {
    release(ordered_lock);
    words_->store(Words::turns + static_cast<std::uint32_t>(loop % slots), tag_of(loop) << tag_shift | end);
}

// -- locks --

void Ranks::acquire(int lock) { check(locks_->acquire(lock)); }

void Ranks::release(int lock) {
    flush_output();
    check(locks_->release(lock));
}

namespace {

/// The lock of the shared memory that guards a word. Different words may have the same, because it is held for moments
/// only.
int guard_of(const std::uint32_t& word) {
    constexpr int first = 16;
    const auto address = reinterpret_cast<std::uintptr_t>(&word);
    return first + static_cast<int>((address >> 2) * 0x9E3779B97F4A7C15 >> 40) % (KUMIKI_SHARED_LOCKS - first);
}

} // namespace

bool Ranks::try_enter(std::uint32_t& word) {
    const int guard = guard_of(word);
    acquire(guard);
    const bool open = word == 0;
    if (open) word = 1;
    release(guard);
    return open;
}

void Ranks::enter(std::uint32_t& word) {
    for (int round = 0; !try_enter(word); ++round) pause(round);
}

void Ranks::leave(std::uint32_t& word) {
    const int guard = guard_of(word);
    acquire(guard);
    word = 0;
    release(guard);
}

// -- failures --

/// Nothing that calls the runtime could do without what has failed.
void Ranks::check(const Result<>& result) const {
    if (result) return;
    say(fmt::format("rank {} ends: {}", rank(), result.error().message));
    std::_Exit(1);
}

void Ranks::refuse(const char* what) const {
    openmp::refuse(fmt::format("rank {}: the program uses {}, which is not possible over several processes so far; run "
                               "it as one (without KUMIKI_SHARED_COPIES=rank and hosts)",
                               rank(), what));
}

std::uint64_t Words::change(fabric::Network::Atomic operation, std::uint32_t index, std::uint64_t value,
                            std::uint64_t expected) const {
    const auto before = fabric_.network()->change(
        0, operation, fabric_.memory().offset(region_) + index * platform::apart, value, expected);
    if (before) return *before;
    say(fmt::format("rank {} ends: {}", fabric_.rank(), before.error().message));
    std::_Exit(1);
}

} // namespace kumiki::openmp
