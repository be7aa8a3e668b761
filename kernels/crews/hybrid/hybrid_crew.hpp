#pragma once

#include <vector>

#include "kernels/crews/hybrid/rank_lines.hpp"
#include "kernels/crews/hybrid/settle.hpp"
#include "kernels/crews/hybrid/working_threads.hpp"

namespace kumiki::kernels {

/// The crew of the form `hybrid`: the threads of Kumiki's ranks, all threads of rank 0 first.
class HybridCrew {
public:
    class Worker : public TimedWorker {
    public:
        Worker(const HybridCrew& crew, Member& member)
            : TimedWorker(member.master()),
              member_(member),
              index_(crew.rank() * crew.local_size() + member.thread()) {}
        int index() const { return index_; }
        int local() const { return member_.thread(); }
        void barrier() { member_.barrier_all(); }
        void local_barrier() { member_.barrier(); }
        template <Summed T>
        T sum(T value) {
            return member_.reduce_all(value, Operation::sum);
        }
        void sum(std::span<double> numbers) { member_.reduce_all(numbers, Operation::sum); }

    private:
        Member& member_;
        int index_;
    };

    template <class T>
    using Memory = OwnMemory<T>;
    template <class T>
    class Edges;
    class SharedVector;
    class KeyExchange;
    class Panels;
    class Blocks;

    /// Collective. `all_threads`: see working_threads().
    HybridCrew(Job& job, bool all_threads) : job_(job), team_(job, working_threads(job, all_threads)) {}

    int size() const { return ranks() * team_.size(); }
    int local_size() const { return team_.size(); }
    int ranks() const { return job_.size(); }
    int rank() const { return job_.rank(); }
    Job& job() { return job_; }
    Workers workers() const {
        return {"kumiki", "hybrid", job_.size(), job_.threads(), job_.oversubscribed(), team_.size()};
    }
    bool agree(bool mine) { return agreed(job_, mine); }
    void add_up(std::span<double> numbers) { job_.reduce(numbers, Operation::sum, 0); }

    template <class Body>
    RunTimes run(Body body) {
        return run_workers<Worker>(*this, body);
    }

protected:
    /// The same for the workers W of a crew that is derived from this one.
    template <class W, class C, class Body>
    RunTimes run_workers(C& crew, Body& body) {
        RunTimes times;
        team_.run([&](Member& member) {
            W worker(crew, member);
            const RunTimes own = timed(worker, body);
            if (member.master()) times = own;
        });
        return largest(job_, times);
    }

private:
    Job& job_;
    Team team_;
};

/// Every thread puts its edges, each with a signal, directly to the place where the partner reads them, whether the
/// partner is a thread of the same rank or of another, and waits only for its partners' signals: there is no barrier.
template <class T>
class HybridCrew::Edges {
public:
    /// Collective.
    Edges(HybridCrew& crew, int lines, std::size_t most)
        : lines_(crew.job(), crew.local_size(), lines, most), started_(static_cast<std::size_t>(crew.local_size())) {}

    static void expect(const Worker&, const Link&) {}
    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        lines_.put(link, data, lines_.next_turn(worker.local(), link));
        started_[static_cast<std::size_t>(worker.local())].lines.push_back(link.line);
    }
    static void started(Worker& worker) { worker.enter(Phase::computation); }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        auto& started = started_[static_cast<std::size_t>(worker.local())].lines;
        for (const int line : started) lines_.await(worker.local(), line);
        started.clear();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker& worker, const Link& link) { return lines_.arrived(worker.local(), link); }

private:
    struct alignas(line_bytes) Started {
        std::vector<int> lines;
    };

    RankLines<T> lines_;
    std::vector<Started> started_; ///< by thread: lines started since the last finish
};

} // namespace kumiki::kernels
