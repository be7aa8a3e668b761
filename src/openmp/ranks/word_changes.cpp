// Words of the program that are changed at their homes, or in this rank's copy until it releases, in the place of its
// atomic instructions.
#include <chrono>

#include "openmp/ranks/process/signals.hpp"
#include "openmp/ranks/ranks.hpp"
#include "openmp/ranks/update_rate.hpp"

namespace kumiki::openmp {

/// Gathered updates take hardly longer than a look at the clock, so one of many is timed.
static unsigned weight_of_gathered() {
    constexpr unsigned many = 64;
    thread_local unsigned gathered = 0;
    return ++gathered % many == 0 ? many : 0;
}

std::optional<std::string_view> Ranks::why_not_gathered() const {
    if (!has_own_host_) return "several processes share a host";
    if (waits_) return "threads of the program wait for variables";
    return {};
}

/// In a program in which threads wait for variables, this rank must have the lock when it releases what it has written.
std::optional<Ranks::Changed> Ranks::change_word(const void* word, const dsm::WordChange& change, bool uses_result) {
    if (waits_ || word == nullptr || others_rest()) return {};
    const SignalsLater later;
    const bool gathered = gathers_now(change, uses_result);
    constexpr std::chrono::nanoseconds of_jump(200); // an estimate: to the runtime and back
    const WaitTimes::Scope waiting(wait_times_, WaitTimes::threads, gathered ? weight_of_gathered() : 1, of_jump);
    if (gathered)
        if (const auto before = shared_.gather_change(word, change)) return Changed{*before, true};
    flush_output();
    const auto began = UpdateRate::Clock::now();
    const auto before = change_at_home(word, change);
    if (!before) return {};
    UpdateRate::of_this_thread().made_in_order(began);
    streams_->take_in();
    return Changed{*before, false};
}

bool Ranks::gathers_now(const dsm::WordChange& change, bool uses_result) {
    if (!gathers()) return false;
    UpdateRate& rate = UpdateRate::of_this_thread();
    if (gathers_all()) return !uses_result && !rate.is_due();
    if (!uses_result) return rate.update(change.is_real(), meetings_.load(std::memory_order_relaxed));
    rate.synchronise();
    return false;
}

/// All changes of a word that may be gathered are made at its home, under a lock that the home manages: a change that
/// was made here would overwrite what comes to the home meanwhile. For one order of all changes, as processors have it,
/// the thread has instruction_lock, which rank 0 manages, in the meantime.
std::optional<std::uint64_t> Ranks::change_at_home(const void* word, const dsm::WordChange& change) {
    const dsm::ChangeLock by_rank_0{instruction_lock}, by_home{change_locks(), true};
    if (!has_own_host_) return shared_.change_word(*locks_, by_rank_0, word, change);
    if (gathers_all()) return shared_.change_word(*locks_, by_home, word, change);
    const auto home = shared_.home_for_changes(word);
    if (!home) return {};
    if (*home == 0) return shared_.change_word(*locks_, by_rank_0, word, change);
    acquire(instruction_lock);
    const auto before = shared_.change_word(*locks_, by_home, word, change);
    release(instruction_lock);
    return before;
}

} // namespace kumiki::openmp
