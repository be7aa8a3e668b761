#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/job_report.hpp"

namespace CLI {
class App;
}

namespace kumiki::kernels {

/// Adds --hidden to a program's options; where it has a choice of forms, `form` must be `message` then.
void add_hidden(CLI::App& program, bool& hidden, const std::string* form = nullptr);

/// What a run does: all, or one part alone of what overlaps, whatever comes out of that.
enum class Extent { all, computation, communication };

/// Runs a program whole, without its communication and without its computation, in turns, so that all three meet the
/// same machine. Returns the rows
///   <program>.hidden  % of the shorter part that hides behind the longer one,
///                     (Tcommunication + Tcomputation - T) / min(Tcommunication, Tcomputation)
///   <program>.alone   s, `part` = computation or communication
/// run(extent) -> RunTimes of the job; agree(bool) -> bool hands rank 0's decision to all ranks.
template <class Run, class Agree>
std::vector<measure::Row> hidden_rows(const JobReport& report, const measure::Budget& budget, Run run, Agree agree) {
    std::vector<double> hidden, computation, communication;
    measure::sample_together(
        budget,
        [&] {
            const double all = run(Extent::all).total();
            computation.push_back(run(Extent::computation).total());
            communication.push_back(run(Extent::communication).total());
            const auto [shorter, longer] = std::minmax(computation.back(), communication.back());
            hidden.push_back(100 * (shorter + longer - all) / shorter);
            return all;
        },
        agree);
    const auto row = [&](const char* figure, const char* unit, measure::Better better, std::span<const double> taken) {
        measure::Row made{report.program + "." + figure, report.implementation, report.parameters, unit, better, {}};
        made.samples.assign(taken.begin() + 1, taken.end()); // without the warm-up
        made.oversubscribed = report.oversubscribed;
        made.validated = report.validated;
        made.note = report.note;
        return made;
    };
    std::vector rows{row("hidden", "%", measure::Better::higher, hidden),
                     row("alone", "s", measure::Better::lower, computation),
                     row("alone", "s", measure::Better::lower, communication)};
    rows[1].parameters["part"] = "computation";
    rows[2].parameters["part"] = "communication";
    return rows;
}

} // namespace kumiki::kernels
