#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "settings/settings.hpp"

namespace kumiki::openmp {

/// Decides at rank 0 whether parallel regions run on all ranks or on the first one alone
/// (docs/decisions/openmp-alone.md). Many short regions, or an atomic instruction for each element, cost more messages
/// than the other ranks save work. So while regions run on all ranks and the first one waits most of the time, they are
/// tried on the first alone, with as many threads; and if those that both have run took less time there, they stay.
///
/// All times are those of the thread that runs main.
class HostChoice {
public:
    using Duration = std::chrono::nanoseconds;

    /// `part`: of all threads, those that the first rank has. Regions run on all ranks at first, unless the user wants
    /// the first one.
    HostChoice(RegionRanks wish, double part);

    enum class Where : std::uint8_t { all, first };
    /// Where the next region runs.
    Where where() const { return state_ == State::watches ? Where::all : Where::first; }

    /// What main has done since the last region ended.
    struct Passed {
        Duration serial{}, serial_waits{}; ///< before the region, and the part of it in which it waited for other ranks
        Duration region{}, region_waits{}; ///< the same of the region
        Duration all() const { return serial + region; }
    };
    /// Whether regions are to run elsewhere after the next one: if then, behind it, no thread is tied to its process
    /// (stop()).
    bool asks() const { return !is_stopped_ && next_.has_value(); }

    /// A region has ended; `code` tells regions apart. Returns a number when regions settle at the first rank for the
    /// first time: how many times as long they took on all.
    std::optional<double> ended(std::uintptr_t code, const Passed& passed);

    /// A thread has something that binds it to its process: from now on all regions run as the next one would.
    void stop() { is_stopped_ = true; }

private:
    enum class State : std::uint8_t { watches, tries, settled };
    /// The regions of one code. What they took on all ranks counts the less the longer ago it was.
    struct Times {
        double on_all_count = 0, on_all = 0; ///< ns
        bool has_run_on_first = false;       ///< since the trial began
        /// Nothing: it is not known.
        std::optional<double> mean_on_all() const;
    };
    /// Some regions in a row; times in ns.
    struct Stretch {
        unsigned regions = 0, compared = 0;
        double took = 0;
        double at_first = 0; ///< of regions on all ranks: what they would take at the first, by what it has waited
        double expected = 0; ///< of regions at the first rank: what they took on all
        double compared_on_all = 0, compared_on_first = 0; ///< without the first one of each code: pages travel for it
        double strange = 0; ///< of regions at the first rank that have not run on all, or did and took less there
    };

    void watch(Times& times, const Passed& passed);
    std::optional<double> try_out(Times& times, const Passed& passed);
    void stay(const Times& times, const Passed& passed);
    void begin(State state);
    void ask_for(State state) { next_ = state; }

    double part_;
    bool alternates_, is_stopped_, has_settled_ = false;
    State state_;
    std::optional<State> next_;
    std::unordered_map<std::uintptr_t, Times> by_code_;
    Stretch stretch_;
    double poor_ = 0;            ///< ns of the stretches on all ranks in a row in which the first one mostly waited
    double needed_poor_ = 150e6; ///< for a trial
    double shortest_stay_ = 5e8; ///< ns at the first rank, before it is given up because regions are others than before
};

} // namespace kumiki::openmp
