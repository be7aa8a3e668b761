#include <optional>
#include <vector>

#include "kernels/cg/forms.hpp"
#include "kernels/cg/generator.hpp"
#include "kernels/cg/worker.hpp"
#include "kernels/common/settle.hpp"
#include "kernels/common/working_threads.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

// The hybrid form: every thread of every rank has rows of the matrix; the vector lies in a region, whole, at every
// rank.

namespace kumiki::kernels::cg {
namespace {

/// All threads of all ranks.
class Colleagues {
public:
    /// `arrived` counts the rows that threads of other ranks have put here; `expected` of them before this run.
    Colleagues(Job& job, Member& member, std::span<double> own, Signal& arrived, std::uint64_t expected, Phases& phases)
        : job_(job), member_(member), own_(own), arrived_(arrived), expected_(expected), phases_(phases) {}

    /// A thread puts its rows to the other ranks itself: they are in its cache, and nobody has to wait for a master
    /// first. The signals that come with the rows of the others do for a barrier, which would cost a question to each
    /// of them before (has all been done?) and another message after; the next rows come after the next sum.
    void share() {
        enter(Phase::communication);
        for (int rank = 0; rank < job_.size(); ++rank)
            if (rank != job_.rank())
                job_.put_signal(rank, own_.data(), std::span<const double>(own_), arrived_, 1, SignalOperation::add);
        enter(Phase::synchronisation);
        expected_ += static_cast<std::uint64_t>(job_.size() - 1) * static_cast<std::uint64_t>(member_.threads());
        if (member_.master()) job_.wait(arrived_, Comparison::at_least, expected_);
        member_.barrier();
        enter(Phase::computation);
    }
    /// The same after this run.
    std::uint64_t expected() const { return expected_; }

    template <std::size_t N>
    std::array<double, N> sum(std::array<double, N> values) {
        enter(Phase::synchronisation);
        member_.reduce_all(std::span<double>(values), Operation::sum);
        enter(Phase::computation);
        return values;
    }

private:
    void enter(Phase phase) {
        if (member_.master()) phases_.enter(phase);
    }

    Job& job_;
    Member& member_;
    std::span<double> own_;
    Signal& arrived_;
    std::uint64_t expected_;
    Phases& phases_;
};

class HybridRun {
public:
    /// Collective.
    HybridRun(Job& job, Team& team, const Problem& problem)
        : job_(job),
          team_(team),
          problem_(problem),
          vector_(job.allocate<double>(problem.order)),
          arrived_(job.allocate<Signal>(1)),
          workers_(static_cast<std::size_t>(team.size())) {
        const Generator generator(problem);
        const auto rows = generator.balanced_rows(job.size() * team.size());
        team.run([&](Member& member) {
            const auto thread = static_cast<std::size_t>(member.thread());
            const std::size_t first = static_cast<std::size_t>(job.rank()) * workers_.size();
            workers_[thread].emplace(problem, generator.multiply_out(rows[first + thread]), vector_.span());
        });
    }

    /// Runs the benchmark once; returns this rank's times.
    RunTimes run() {
        Phases phases;
        Steps steps;
        job_.barrier();
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        team_.run([&](Member& member) {
            Worker& worker = *workers_[static_cast<std::size_t>(member.thread())];
            const auto own = vector_.span().subspan(worker.range().begin, worker.range().size());
            Colleagues colleagues(job_, member, own, arrived_[0], expected_, phases);
            Steps own_steps;
            const double zeta = worker.estimate(colleagues, own_steps);
            if (!member.master()) return;
            steps = own_steps;
            zeta_ = zeta;
            expected_ = colleagues.expected(); // all have begun: the last sum took all threads
        });
        phases.enter(Phase::synchronisation);
        job_.barrier();
        steps.stop();
        phases.stop();
        return {measure::seconds_since(start), phases, steps};
    }

    /// Whether the last run ended right at this rank.
    bool valid() const { return problem_.verifies(zeta_); }

private:
    Job& job_;
    Team& team_;
    Problem problem_;
    Region<double> vector_;
    Region<Signal> arrived_;
    std::uint64_t expected_ = 0; ///< rows of other ranks' threads, by the runs so far
    std::vector<std::optional<Worker>> workers_;
    double zeta_ = 0.0;
};

} // namespace

int run_hybrid(const Task& task) {
    Job job;
    Team team(job, working_threads(job, task.all_threads));
    HybridRun benchmark(job, team, task.problem);
    Outcome outcome;
    const auto run = [&] {
        const RunTimes times = benchmark.run();
        outcome.valid &= job.all_reduce<int>(benchmark.valid(), Operation::min) != 0;
        return largest(job, times);
    };
    outcome.runs = sample_runs(task.budget, run, [&](bool more) { return agreed(job, more); });
    JobReport report = report_of(task, "kumiki", job.size(), job.threads());
    report.oversubscribed = job.oversubscribed();
    tell_working(report, job.threads(), team.size());
    if (job.rank() == 0) return conclude(report, outcome);
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::cg
