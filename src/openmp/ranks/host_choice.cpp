#include "openmp/ranks/host_choice.hpp"

#include <algorithm>
#include <utility>

namespace kumiki::openmp {
namespace {

// In ns. A stretch is long enough for what a rank does once, such as fetching pages that it will keep, not to decide.
constexpr double shortest_stretch = 50e6, least_compared = 20e6;
constexpr unsigned fewest_regions = 16, fewest_compared = 8;
/// Where single regions take longer than such stretches, fewer of them must do.
constexpr double long_stretch = 1e9, long_compared = 500e6;
constexpr unsigned few_regions = 4, few_compared = 2;

constexpr double poor = 0.7;  ///< the time at the first rank, by what it has waited, to that on all
constexpr double gain = 1.25; ///< the time on all ranks to that at the first one, for which regions stay there
constexpr double most_loss = 2, loss_at_first = 50e6; ///< of a trial
constexpr double longest_trial = 500e6;
constexpr double patience = 4, longest_patience = 600e9;

double ns(HostChoice::Duration duration) { return static_cast<double>(duration.count()); }

} // namespace

std::optional<double> HostChoice::Times::mean_on_all() const {
    if (on_all_count < 0.5) return {};
    return on_all / on_all_count;
}

HostChoice::HostChoice(RegionRanks wish, double part)
    : part_(part),
      alternates_(wish == RegionRanks::alternating),
      is_stopped_(wish == RegionRanks::first),
      state_(wish == RegionRanks::first ? State::settled : State::watches) {
    if (alternates_) ask_for(State::settled);
}

std::optional<double> HostChoice::ended(std::uintptr_t code, const Passed& passed) {
    if (is_stopped_) {
        next_.reset();
        return {};
    }
    if (next_) {
        begin(*std::exchange(next_, {}));
        if (!alternates_) return {};
    }
    if (alternates_) {
        ask_for(state_ == State::watches ? State::settled : State::watches);
        return {};
    }
    Times& times = by_code_[code];
    ++stretch_.regions;
    stretch_.took += ns(passed.all());
    switch (state_) {
    case State::watches: watch(times, passed); return {};
    case State::tries: return try_out(times, passed);
    case State::settled: stay(times, passed); return {};
    }
    return {};
}

/// What the first rank does not wait it computes, and would compute for the others, too, if it were alone.
void HostChoice::watch(Times& times, const Passed& passed) {
    times.on_all += ns(passed.all());
    ++times.on_all_count;
    stretch_.at_first += ns(passed.serial - passed.serial_waits) + ns(passed.region - passed.region_waits) / part_;
    const bool is_long = stretch_.took >= long_stretch && stretch_.regions >= few_regions;
    if (!is_long && (stretch_.took < shortest_stretch || stretch_.regions < fewest_regions)) return;
    poor_ = stretch_.at_first < poor * stretch_.took ? poor_ + stretch_.took : 0;
    stretch_ = {};
    if (poor_ >= needed_poor_) return ask_for(State::tries);
    for (auto& [code, each] : by_code_) {
        each.on_all_count /= 2;
        each.on_all /= 2;
    }
}

std::optional<double> HostChoice::try_out(Times& times, const Passed& passed) {
    const double took = ns(passed.all());
    if (const auto on_all = times.mean_on_all()) {
        stretch_.expected += *on_all;
        if (std::exchange(times.has_run_on_first, true)) {
            ++stretch_.compared;
            stretch_.compared_on_all += *on_all;
            stretch_.compared_on_first += took;
        }
    } else {
        stretch_.strange += took;
    }
    const bool is_long = stretch_.compared_on_all >= long_compared && stretch_.compared >= few_compared;
    const bool is_enough =
        is_long || (stretch_.compared_on_all >= least_compared && stretch_.compared >= fewest_compared);
    const double ratio = stretch_.compared_on_all / std::max(stretch_.compared_on_first, 1.0);
    if (is_enough && ratio >= gain) {
        begin(State::settled);
        return std::exchange(has_settled_, true) ? std::nullopt : std::optional(ratio);
    }
    const bool is_loss = stretch_.took - stretch_.strange > most_loss * stretch_.expected + loss_at_first;
    if (is_enough || is_loss || stretch_.took > longest_trial) {
        needed_poor_ = std::min(needed_poor_ * patience, longest_patience);
        ask_for(State::watches);
    }
    return {};
}

/// A program that goes on to other regions, or to much longer ones, is watched again.
void HostChoice::stay(const Times& times, const Passed& passed) {
    const auto on_all = times.mean_on_all();
    if (!on_all || ns(passed.all()) > *on_all) stretch_.strange += ns(passed.all());
    if (stretch_.took < shortest_stay_) return;
    const bool is_strange = stretch_.strange > stretch_.took / 2;
    stretch_ = {};
    if (!is_strange) return;
    shortest_stay_ *= 2;
    by_code_.clear();
    ask_for(State::watches);
}

void HostChoice::begin(State state) {
    state_ = state;
    stretch_ = {};
    poor_ = 0;
    for (auto& [code, each] : by_code_) each.has_run_on_first = false;
}

} // namespace kumiki::openmp
