// Regions that run on the first rank alone, and what is between regions: the other ranks wait for the next region of
// all ranks meanwhile.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/ranks.hpp"
#include "openmp/team.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {

/// A user who wants to know what regions on all ranks cost, or whether they have races, does not want them elsewhere.
void Ranks::choose_hosts(const Settings& settings) {
    const RegionRanks wish = settings.openmp_regions;
    if (rank() != 0 || wish == RegionRanks::all) return;
    if (wish == RegionRanks::adaptive && (fabric_->everybody().hosts() == 1 || record_ || shared_.races() != nullptr))
        return;
    host_choice_ = std::make_unique<HostChoice>(wish, firsts_[1] / static_cast<double>(firsts_.back()));
    available_at_start_ = platform::available_memory();
    wait_times_.begin();
    last_end_ = now();
}

Result<> Ranks::begin() {
    own_files_.begin();
    if (auto met = collectives_.barrier(); !met) return met;
    if (rank() == 0) at_rest_.begin();
    return {};
}

Ranks::Moment Ranks::now() const {
    return {WaitTimes::Clock::now(), wait_times_.at(WaitTimes::barriers),
            wait_times_.at(WaitTimes::threads) + wait_times_.at(WaitTimes::tasks) + shared_.time_in_faults()};
}

/// Whether what the others have fits into the memory of this host, too, if they have as much for each thread as it has.
bool Ranks::has_room_for_all() const {
    const std::uint64_t now = platform::available_memory();
    const std::uint64_t used = available_at_start_ - std::min(now, available_at_start_);
    const int own = firsts_[1], others = firsts_.back() - own;
    return used / static_cast<unsigned>(own) * static_cast<unsigned>(others) < now / 2;
}

bool Ranks::runs_on_all(const void* code) {
    if (!host_choice_) return true;
    if (host_choice_->asks() && host_choice_->where() == HostChoice::Where::all && !has_room_for_all())
        host_choice_->stop();
    begin_of_region_ = now();
    if (host_choice_->where() == HostChoice::Where::all) return true;
    code_alone_.store(reinterpret_cast<std::uintptr_t>(code), std::memory_order_relaxed);
    return false;
}

void Ranks::end_alone() {
    if (is_tied_.load(std::memory_order_relaxed) || at_rest_.are_taken()) host_choice_->stop();
    note_end(code_alone_.exchange(0, std::memory_order_relaxed));
}

/// Between regions only the thread that runs main waits.
void Ranks::note_end(std::uintptr_t code) {
    if (!host_choice_) return;
    const Moment &begin = begin_of_region_, end = now();
    const auto gain = host_choice_->ended(
        code, {.serial = begin.when - last_end_.when,
               .serial_waits = begin.threads - last_end_.threads,
               .region = end.when - begin.when,
               .region_waits = end.barriers - begin.barriers + (end.threads - begin.threads) / firsts_[1]});
    if (gain)
        say(fmt::format(
            "on all hosts the parallel regions took {:.1f} times as long as on the first one alone; they run "
            "there from now on (--regions all keeps them on all)",
            *gain));
    last_end_ = now();
}

void Ranks::join(std::uint64_t next_claim) {
    constexpr std::uint64_t yes = 1;
    const bool is_tied = is_tied_.load(std::memory_order_relaxed) || held_.load(std::memory_order_relaxed) != 0;
    if (rank() != 0 && is_tied && !std::exchange(told_tied_, true)) words_->store(Words::tied, yes);
    if (process().environment().cancellation) {
        meet_at_end(next_claim);
    } else {
        meet(nullptr);
        next_claim_ = next_claim;
    }
    if (rank() == 0) {
        note_tasks_of_region();
        begin_rest();
    }
}

bool Ranks::has_code(void (*function)(void*)) const { return may_be_program(reinterpret_cast<const void*>(function)); }

bool Ranks::exchanges_tasks(const void* code) const {
    if (exchanged_tasks_ == TaskRanks::own) return false;
    const auto known = had_tasks_.find(reinterpret_cast<std::uintptr_t>(code));
    return known == had_tasks_.end() || known->second;
}

void Ranks::note_tasks_of_region() {
    if (exchanged_tasks_ == TaskRanks::own) return;
    const bool had = words_->own(Words::tasks) == region_meeting_;
    bool& known = had_tasks_.try_emplace(region_, had).first->second;
    known = known || had;
}

/// Of threads that are tied to other ranks one may be at work meanwhile, or have a lock.
void Ranks::begin_rest() {
    const bool may_rest = words_->load(Words::tied) == 0;
    if (!may_rest && host_choice_) host_choice_->stop();
    note_end(region_);
    if (!may_rest) return;
    standard_output_.end_lines();
    at_rest_.begin();
}

void Ranks::end_rest() {
    const auto acquire = [this](int lock) {
        check(locks_->acquire(lock));
        held_.fetch_add(1, std::memory_order_relaxed);
    };
    const auto release = [this](int lock) {
        held_.fetch_sub(1, std::memory_order_relaxed);
        check(locks_->release(lock));
    };
    at_rest_.end(acquire, release);
    standard_output_.begin_lines();
}

/// In a region of all ranks, those of the other ranks are tied to them; in one that runs on the first alone, those that
/// would run at other ranks.
void Ranks::note_tie() {
    const Member* const me = the_member != nullptr ? in_outermost_region(*the_member) : nullptr;
    if (me == nullptr) return;
    const bool is_added = code_alone_.load(std::memory_order_relaxed) != 0 && me->id >= firsts_[1];
    if (rank() != 0 || is_added) is_tied_.store(true, std::memory_order_relaxed);
}

void Ranks::note_own_variables() {
    if (thread_variables_.have_changed()) note_tie();
}

} // namespace kumiki::openmp
