#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>

#include "kernels/common/job_report.hpp"
#include "kernels/crews/timed_worker.hpp"
#include "measure/program.hpp"

// How a program is written once for all its forms: the program says what every worker does, and a crew provides the
// workers of one form: a single one (here), the threads of OpenMP (one_memory/), the processes of MPI (mpi/), the
// threads of Kumiki's ranks (hybrid/, message/). The program is a template of its crew, but the inner kernels are
// compiled once.

namespace kumiki::kernels {

/// The types of a sum over workers: a number, or up to most_summed doubles at once.
template <class T>
concept Summed = std::same_as<T, double> || std::same_as<T, std::uint64_t>;
inline constexpr std::size_t most_summed = 4;

/// One thread of execution that computes, as the program sees it in Crew::run. It is a TimedWorker, which keeps the
/// times of its process if it is the first worker there.
template <class W>
concept CrewWorker = requires(W worker, std::uint64_t count, double number, std::span<double> numbers) {
    { worker.index() } -> std::same_as<int>; ///< 0 .. crew.size() - 1
    { worker.local() } -> std::same_as<int>; ///< 0 .. crew.local_size() - 1, among the workers of this process
    worker.barrier();                        ///< over all workers
    worker.local_barrier();                  ///< over the workers of this process
    { worker.sum(count) } -> std::same_as<std::uint64_t>; ///< over all workers; all of them get the same bits
    { worker.sum(number) } -> std::same_as<double>;
    worker.sum(numbers); ///< each of up to most_summed numbers, in place
} && std::derived_from<W, TimedWorker>;

/// The workers of a job, from the point of view of one of its processes. All processes call its members in the same
/// order.
///
/// crew.run(body) calls body(worker) on every worker between two barriers of all workers, beginning in the phase
/// computation. It returns the times of the job: for each figure the largest, over processes, of the times of the
/// process's first worker.
template <class C>
concept Crew = requires(C crew, void (*body)(typename C::Worker&), std::span<double> numbers) {
    { crew.size() } -> std::same_as<int>;       ///< workers of the job
    { crew.local_size() } -> std::same_as<int>; ///< workers of this process
    { crew.rank() } -> std::same_as<int>;       ///< of this process
    { crew.workers() } -> std::same_as<Workers>;
    { crew.agree(true) } -> std::same_as<bool>; ///< rank 0's argument, at every rank
    crew.add_up(numbers);                       ///< each number over all processes; the sums are at rank 0
    { crew.run(body) } -> std::same_as<RunTimes>;
} && CrewWorker<typename C::Worker>;

/// A connection between two workers that exchange data: a line of this worker, and the line of the other worker at
/// which it ends.
struct Link {
    int line = 0; ///< 0 .. lines - 1, of this worker
    int partner = 0;
    int partner_line = 0;
};

/// How the workers of a crew exchange edges: Edges(crew, lines, most) gives every worker `lines` lines for up to `most`
/// elements. A worker starts all exchanges in which it takes part, as its partner at the other end does, and then
/// finishes them together; both know how much the other one sends. Data that arrived by a line stay until the worker
/// starts that line again.
///
/// This is the one place where the forms of a stencil program differ. Programs that move other data have a
/// SharedVector, a KeyExchange, Panels or Blocks instead.
template <class E, class W, class T>
concept EdgesBetween = requires(E edges, W worker, Link link, std::span<const T> data) {
    /// May be called before start, to be ready for the partner's data; data that arrived earlier by the line then stay
    /// until finish. It is useful if the receiver of a message must have named its place; otherwise it does nothing.
    edges.expect(worker, link);
    edges.start(worker, link, data); ///< `data` must stay as it is until finish
    edges.started(worker);           ///< all lines are; called by every worker; the phase computation begins
    edges.finish(worker);            ///< called by every worker of the crew; the phase computation begins
    { edges.arrived(worker, link) } -> std::same_as<const T*>;
};

/// Where the workers of a crew have their parts of a grid: Memory(crew, count) has `count` elements, all 0, for every
/// worker, or none, and then every worker allocates its own, near it.
template <class M, class W, class T>
concept MemoryFor = requires(M memory, W worker) {
    { memory.of(worker) } -> std::same_as<std::span<T>>;
};

/// The memory of crews whose workers exchange data in other ways.
template <class T>
struct OwnMemory {
    OwnMemory(const auto&, std::size_t) {}
    static std::span<T> of(const TimedWorker&) { return {}; }
};

/// The crew of the form `sequential`: one worker.
class SequentialCrew {
public:
    class Worker : public TimedWorker {
    public:
        Worker() : TimedWorker(true) {}
        static int index() { return 0; }
        static int local() { return 0; }
        static void barrier() {}
        static void local_barrier() {}
        template <Summed T>
        static T sum(T value) {
            return value;
        }
        static void sum(std::span<double>) {}
    };

    template <class T>
    using Memory = OwnMemory<T>;
    /// There are no partners to exchange anything with.
    template <class T>
    struct Edges {
        Edges(const SequentialCrew&, int, std::size_t) {}
        static void expect(const Worker&, const Link&) {}
        static void start(const Worker&, const Link&, std::span<const T>) {}
        static void started(const Worker&) {}
        static void finish(const Worker&) {}
        static const T* arrived(const Worker&, const Link&) { return nullptr; }
    };

    class SharedVector;
    class KeyExchange;
    class Panels;
    class Blocks;

    static int size() { return 1; }
    static int local_size() { return 1; }
    static int rank() { return 0; }
    static Workers workers() { return {"kumiki", "sequential"}; }
    static bool agree(bool mine) { return mine; }
    static void add_up(std::span<double>) {}

    template <class Body>
    RunTimes run(Body body) {
        Worker worker;
        return timed(worker, body);
    }
};

/// Samples run() -> RunTimes of the crew as often as rank 0's budget allows.
template <Crew C, class Run>
std::vector<RunTimes> sample_crew(C& crew, const measure::Budget& budget, Run run) {
    return sample_runs(budget, run, [&](bool more) { return crew.agree(more); });
}

/// Ends a program: rank 0, which passes whether the result is `valid`, prints the rows. Returns the exit code, the same
/// at every rank.
template <Crew C>
int conclude(C& crew, JobReport report, std::span<const RunTimes> runs, bool valid) {
    report.validated = crew.agree(valid);
    if (crew.rank() == 0) print(std::cout, report, runs);
    return report.validated ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels
