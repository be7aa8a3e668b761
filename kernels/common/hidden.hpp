#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/crews/crew.hpp"

namespace CLI {
class App;
}

namespace kumiki::kernels {

/// Adds --hidden to a program's options; if it has a choice of forms, `form` must then be `message`.
void add_hidden(CLI::App& program, bool& hidden, const std::string* form = nullptr);

/// The extent of a run: everything, or only one of the two overlapping parts, whatever the result.
enum class Extent { all, computation, communication };

/// Runs a program whole, without its communication and without its computation, in turns, so that all three meet the
/// same machine. Returns the rows
///   <program>.hidden  % of the shorter part that hides behind the longer one,
///                     (Tcommunication + Tcomputation - T) / min(Tcommunication, Tcomputation)
///   <program>.alone   s, `part` = computation or communication
/// run(extent) -> RunTimes of the job; agree(bool) -> bool hands rank 0's decision to all ranks.
template <class Run, class Agree>
std::vector<measure::Row> hidden_rows(const JobReport& report, const measure::Budget& budget, Run run, Agree agree) {
    struct Turn {
        double all, computation, communication;

        double hidden() const {
            const auto [shorter, longer] = std::minmax(computation, communication);
            return 100 * (shorter + longer - all) / shorter;
        }
    };
    const auto row = [&](const char* figure, const char* unit, measure::Better better, double resolution) {
        measure::Row made{report.program + "." + figure, report.implementation, report.parameters, unit, better, {}};
        made.resolution = resolution;
        made.oversubscribed = report.oversubscribed;
        made.validated = report.validated;
        made.note = report.note;
        return made;
    };
    std::vector rows{row("hidden", "%", measure::Better::higher, measure::one_point),
                     row("alone", "s", measure::Better::lower, 0), row("alone", "s", measure::Better::lower, 0)};
    rows[1].parameters["part"] = "computation";
    rows[2].parameters["part"] = "communication";
    const auto fill = [&rows](std::span<const Turn> turns) {
        rows[0].samples = measure::figures_of(turns, [](const Turn& turn) { return turn.hidden(); });
        rows[1].samples = measure::figures_of(turns, [](const Turn& turn) { return turn.computation; });
        rows[2].samples = measure::figures_of(turns, [](const Turn& turn) { return turn.communication; });
    };
    const auto take = [&] {
        return Turn{run(Extent::all).total(), run(Extent::computation).total(), run(Extent::communication).total()};
    };
    const auto all_settled = [&](std::span<const Turn> turns) {
        fill(turns);
        return std::ranges::all_of(rows, [](const measure::Row& each) { return settled(each); });
    };
    fill(measure::sample_until(budget, take, all_settled, agree));
    return rows;
}

/// The same on a crew, and rank 0 prints the rows. `valid`: whether the program's result is right. Collective.
template <Crew C, class Run>
void print_hidden(C& crew, JobReport report, bool valid, const measure::Budget& budget, Run run) {
    report.validated = valid;
    const auto rows = hidden_rows(report, budget, run, [&](bool more) { return crew.agree(more); });
    if (crew.rank() != 0) return;
    for (const measure::Row& row : rows) measure::print(std::cout, row);
}

} // namespace kumiki::kernels
