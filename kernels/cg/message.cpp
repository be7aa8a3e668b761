#include <algorithm>
#include <array>
#include <iostream>
#include <span>
#include <vector>

#include "kernels/cg/forms.hpp"
#include "kernels/cg/generator.hpp"
#include "kernels/cg/worker.hpp"
#include "kernels/common/hidden.hpp"
#include "kernels/common/message_ranks.hpp"
#include "measure/program.hpp"

// The form in messages, in which communication and computation overlap (Maestro's CG). A rank's rows of the vector
// travel in pieces, and every rank has its rows once more by columns, the own ones and those of each piece: the product
// with the own columns hides the first piece, the product with each piece the next. What is there in time is multiplied
// with as a whole.

namespace kumiki::kernels::cg {
namespace {

/// A piece of a rank's rows of the vector, and the columns that meet it.
struct Piece {
    int owner;
    int number; ///< among the owner's pieces: the tag of its message
    Range place;
    Rows columns;
};

/// Of all others' rows together. More leave less to do after the last one, but every piece of a row is filled up to
/// whole registers and ends with a sum over a register.
constexpr std::size_t pieces_of_others = 4;

/// A rank's rows of the vector, as they travel: the last piece, whose product nothing hides, is the shortest.
std::vector<Range> cut(Range rows, int ranks) {
    const std::size_t pieces = std::max<std::size_t>(1, pieces_of_others / static_cast<std::size_t>(ranks - 1));
    const std::size_t shares = pieces * (pieces + 1) / 2; // of which the first piece gets `pieces`, the last one
    std::vector<Range> made;
    std::size_t before = 0;
    for (std::size_t weight = pieces; weight > 0; before += weight--)
        made.push_back(
            {rows.begin + rows.size() * before / shares, rows.begin + rows.size() * (before + weight) / shares});
    return made;
}

/// A rank's rows, and the same by columns.
struct Columns {
    Columns(const Rows& rows, std::span<const Range> ranges, int rank)
        : all(rows),
          own(rows.only(ranges[static_cast<std::size_t>(rank)])),
          others(rows.without(ranges[static_cast<std::size_t>(rank)])) {
        const int ranks = static_cast<int>(ranges.size());
        for (int distance = 1; distance < ranks; ++distance) {
            const int owner = (rank + distance) % ranks;
            int number = 0;
            for (const Range place : cut(ranges[static_cast<std::size_t>(owner)], ranks))
                pieces.push_back({owner, number++, place, rows.only(place)});
        }
    }

    const Rows& all;
    Rows own, others;
    std::vector<Piece> pieces; ///< `others` once more
};

/// This rank's partners: all of them while it shares the vector with them, or one part of that alone.
class Correspondents {
public:
    Correspondents(Job& job, const Columns& columns, std::span<double> vector, Extent extent, Phases& phases)
        : job_(job), columns_(columns), vector_(vector), extent_(extent), phases_(phases) {}

    void multiply(std::span<const double> vector, std::span<double> result, Steps& steps) {
        start();
        if (all_arrived()) { // ranks of one host share it in less time than cutting the product costs
            steps.enter(Step::product);
            if (computes()) columns_.all.multiply(vector, result);
        } else multiply_meanwhile(vector, result, steps);
        steps.enter(Step::exchange);
        finish();
    }

    template <std::size_t N>
    std::array<double, N> sum(std::array<double, N> values) {
        if (!communicates()) return values;
        phases_.enter(Phase::synchronisation);
        job_.all_reduce(std::span<double>(values), Operation::sum);
        phases_.enter(Phase::computation);
        return values;
    }

private:
    void multiply_meanwhile(std::span<const double> vector, std::span<double> result, Steps& steps) {
        steps.enter(Step::product);
        if (computes()) columns_.own.multiply(vector, result);
        if (all_arrived()) {
            if (computes()) columns_.others.multiply_add(vector, result);
            return;
        }
        for (const Piece& piece : columns_.pieces) {
            steps.enter(Step::exchange);
            await(receives_[static_cast<std::size_t>(&piece - columns_.pieces.data())]);
            steps.enter(Step::product);
            if (computes()) piece.columns.multiply_add(vector, result);
        }
    }

    bool computes() const { return extent_ != Extent::communication; }
    bool communicates() const { return extent_ != Extent::computation; }

    void start() {
        if (!communicates()) return;
        phases_.enter(Phase::communication);
        for (const Piece& piece : columns_.pieces)
            receives_.push_back(job_.receive(piece.owner, piece.number, at(piece.place)));
        for (int distance = 1; distance < job_.size(); ++distance) {
            int number = 0;
            for (const Range place : cut(columns_.own.range(), job_.size()))
                sends_.push_back(job_.send((job_.rank() + distance) % job_.size(), number++, at(place)));
        }
        phases_.enter(Phase::computation);
    }
    /// A few looks: on one host messages move in them.
    bool all_arrived() {
        const auto arrived = [](Request& each) { return !each.open() || each.test(); };
        for (int look = 0; look < 32; ++look)
            if (std::ranges::all_of(receives_, arrived)) return true;
        return false;
    }
    void await(Request& receive) {
        if (!receive.open()) return;
        phases_.enter(Phase::communication);
        receive.wait();
        phases_.enter(Phase::computation);
    }
    /// The own rows of the vector change next.
    void finish() {
        phases_.enter(Phase::communication);
        wait_all(sends_);
        receives_.clear();
        sends_.clear();
        phases_.enter(Phase::computation);
    }
    std::span<double> at(Range rows) const { return vector_.subspan(rows.begin, rows.size()); }

    Job& job_;
    const Columns& columns_;
    std::span<double> vector_;
    Extent extent_;
    Phases& phases_;
    std::vector<Request> receives_, sends_;
};

class MessageRun {
public:
    /// Collective.
    MessageRun(MessageRanks& ranks, const Problem& problem, const Generator& generator)
        : MessageRun(ranks, problem, generator, generator.balanced_rows(ranks.size())) {}

    RunTimes run(Extent extent = Extent::all) {
        Phases phases;
        Steps steps;
        Correspondents partners(ranks_.job(), columns_, vector_, extent, phases);
        ranks_.barrier();
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        if (extent == Extent::communication) communicate(partners, steps);
        else zeta_ = worker_.estimate(partners, steps);
        phases.enter(Phase::synchronisation);
        ranks_.barrier();
        steps.stop();
        phases.stop();
        return ranks_.largest({measure::seconds_since(start), phases, steps});
    }

    /// Whether the last run ended right, at every rank.
    bool valid() { return ranks_.sum(problem_.verifies(zeta_) ? 0 : 1) == 0; }

private:
    MessageRun(MessageRanks& ranks, const Problem& problem, const Generator& generator, std::span<const Range> ranges)
        : ranks_(ranks),
          problem_(problem),
          vector_(problem.order),
          worker_(problem, generator.multiply_out(ranges[static_cast<std::size_t>(ranks.rank())]), vector_),
          columns_(worker_.rows(), ranges, ranks.rank()) {}

    /// All that estimate() sends, receives and sums up.
    void communicate(Correspondents& partners, Steps& steps) {
        for (int product = 0; product < problem_.products(); ++product) {
            partners.multiply({}, {}, steps);
            partners.sum(std::array<double, 4>{});
        }
    }

    MessageRanks& ranks_;
    Problem problem_;
    AlignedVector<double> vector_;
    Worker worker_;
    Columns columns_;
    double zeta_ = 0.0;
};

} // namespace

int run_message(const Task& task) {
    Job job;
    MessageRanks ranks(job);
    MessageRun benchmark(ranks, task.problem, Generator(task.problem));
    const auto agree = [&](bool more) { return ranks.agree(more); };
    Outcome outcome;
    const auto run = [&] {
        const RunTimes times = benchmark.run();
        outcome.valid &= benchmark.valid();
        return times;
    };
    outcome.runs = sample_runs(task.budget, run, agree);
    JobReport report = report_of(task, "kumiki", job.size(), 1);
    report.oversubscribed = job.oversubscribed();
    report.validated = outcome.valid;
    if (job.rank() == 0) conclude(report, outcome);
    if (task.hidden) {
        const auto rows = hidden_rows(report, task.budget, [&](Extent extent) { return benchmark.run(extent); }, agree);
        if (job.rank() == 0)
            for (const measure::Row& row : rows) measure::print(std::cout, row);
    }
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::cg
