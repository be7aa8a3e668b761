#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>

#include "kernels/common/job_report.hpp"
#include "measure/program.hpp"

// How a program is written once for all its forms: it says what every worker does, and a crew brings the workers of one
// form: the only one (here), the threads of OpenMP (openmp_crew.hpp), the processes of MPI (mpi_crew.hpp), the threads
// of Kumiki's ranks (hybrid_crew.hpp). The program is a template of its crew, but what computes is compiled once.

namespace kumiki::kernels {

/// One thread of execution that computes, as the program sees it in Crew::run.
template <class W>
concept CrewWorker = requires(W worker, std::uint64_t count, double number) {
    { worker.index() } -> std::same_as<int>; ///< 0 .. crew.size() - 1
    { worker.local() } -> std::same_as<int>; ///< 0 .. crew.local_size() - 1, among the workers of this process
    worker.enter(Phase::computation);        ///< what this worker is busy with from here on
    worker.barrier();                        ///< over all workers
    { worker.sum(count) } -> std::same_as<std::uint64_t>; ///< over all workers; everyone gets the same bits
    { worker.sum(number) } -> std::same_as<double>;
};

/// The workers of a job, as one of its processes sees them. Its members are called by every process in the same order.
///
/// crew.run(body) calls body(worker) on every worker between two barriers of all, in the phase computation; returns the
/// times of the job, each the largest over processes of what the first worker of a process took.
template <class C>
concept Crew = CrewWorker<typename C::Worker> && requires(C crew, void (*body)(typename C::Worker&)) {
    { crew.size() } -> std::same_as<int>;       ///< workers of the job
    { crew.local_size() } -> std::same_as<int>; ///< workers of this process
    { crew.rank() } -> std::same_as<int>;       ///< of this process
    { crew.workers() } -> std::same_as<Workers>;
    { crew.agree(true) } -> std::same_as<bool>; ///< what rank 0 says, at every rank
    { crew.run(body) } -> std::same_as<RunTimes>;
};

/// Two workers that exchange data: a line of this worker, and which line of which worker it ends at.
struct Link {
    int line = 0; ///< 0 .. lines - 1, of this worker
    int partner = 0;
    int partner_line = 0;
};

/// How the workers of a crew hand edges to each other: Edges(crew, lines, most) gives every worker `lines` lines for up
/// to `most` elements. A worker starts every exchange that it takes part in, as its partner at the other end does, and
/// then finishes them together; the two know how much the other sends. What arrived by a line stays until the worker
/// starts that line again.
///
/// This is the one place where the forms of a stencil program differ.
template <class E, class W, class T>
concept EdgesBetween = requires(E edges, W worker, Link link, std::span<const T> data) {
    edges.start(worker, link, data); ///< `data` must stay as it is until finish
    edges.finish(worker);            ///< called by every worker of the crew; the phase computation begins
    { edges.arrived(worker, link) } -> std::same_as<const T*>;
};

/// The crew of the form `sequential`: one worker.
class SequentialCrew {
public:
    class Worker {
    public:
        explicit Worker(Phases& phases) : phases_(phases) {}
        static int index() { return 0; }
        static int local() { return 0; }
        void enter(Phase phase) { phases_.enter(phase); }
        static void barrier() {}
        template <class T>
        static T sum(T value) {
            return value;
        }

    private:
        Phases& phases_;
    };

    /// Nobody is there to exchange anything with.
    template <class T>
    struct Edges {
        Edges(const SequentialCrew&, int, std::size_t) {}
        static void start(const Worker&, const Link&, std::span<const T>) {}
        static void finish(const Worker&) {}
        static const T* arrived(const Worker&, const Link&) { return nullptr; }
    };

    static int size() { return 1; }
    static int local_size() { return 1; }
    static int rank() { return 0; }
    static Workers workers() { return {"kumiki", "sequential"}; }
    static bool agree(bool mine) { return mine; }

    template <class Body>
    RunTimes run(Body body) {
        Phases phases;
        Worker worker(phases);
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        body(worker);
        phases.stop();
        return {measure::seconds_since(start), phases};
    }
};

/// Samples run() -> RunTimes of the crew as often as rank 0's budget allows.
template <Crew C, class Run>
std::vector<RunTimes> sample_crew(C& crew, const measure::Budget& budget, Run run) {
    return sample_runs(budget, run, [&](bool more) { return crew.agree(more); });
}

/// Ends a program: rank 0, which says whether the result is `valid`, prints the rows. Returns the exit code, the same
/// at every rank.
template <Crew C>
int conclude(C& crew, JobReport report, std::span<const RunTimes> runs, bool valid) {
    report.validated = crew.agree(valid);
    if (crew.rank() == 0) print(std::cout, report, runs);
    return report.validated ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels
