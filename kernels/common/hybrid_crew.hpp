#pragma once

#include <algorithm>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/crew.hpp"
#include "kernels/common/settle.hpp"
#include "kernels/common/working_threads.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// The crew of the form `hybrid`: the threads of Kumiki's ranks, all threads of rank 0 first.
class HybridCrew {
public:
    class Worker {
    public:
        Worker(const HybridCrew& crew, Member& member)
            : member_(member), index_(crew.rank() * crew.local_size() + member.thread()) {}
        int index() const { return index_; }
        int local() const { return member_.thread(); }
        void enter(Phase phase) {
            if (member_.master()) phases_.enter(phase);
        }
        void barrier() { member_.barrier_all(); }
        template <class T>
        T sum(T value) {
            return member_.reduce_all(value, Operation::sum);
        }
        Phases& phases() { return phases_; }

    private:
        Member& member_;
        int index_;
        Phases phases_;
    };

    template <class T>
    class Edges;

    /// Collective. `all_threads`: see working_threads().
    HybridCrew(Job& job, bool all_threads) : job_(job), team_(job, working_threads(job, all_threads)) {}

    int size() const { return job_.size() * team_.size(); }
    int local_size() const { return team_.size(); }
    int rank() const { return job_.rank(); }
    Job& job() { return job_; }
    Workers workers() const {
        return {"kumiki", "hybrid", job_.size(), job_.threads(), job_.oversubscribed(), team_.size()};
    }
    bool agree(bool mine) { return agreed(job_, mine); }

    template <class Body>
    RunTimes run(Body body) {
        RunTimes times;
        team_.run([&](Member& member) {
            Worker worker(*this, member);
            worker.barrier();
            const auto start = measure::Clock::now();
            worker.enter(Phase::computation);
            body(worker);
            worker.enter(Phase::synchronisation);
            worker.barrier();
            worker.phases().stop();
            if (member.master()) times = {measure::seconds_since(start), worker.phases()};
        });
        return largest(job_, times);
    }

private:
    Job& job_;
    Team team_;
};

/// Every thread puts its edges, with a signal, straight to where the partner reads them, be it a thread of the same
/// rank or of another, and waits for its partners' signals alone: there is no barrier. Two places for each line, in
/// turn, are flow control enough: a partner that sends a second time has received what was sent to it since, and so has
/// we its first.
template <class T>
class HybridCrew::Edges {
public:
    /// Collective. (One line is made even where none is asked for: there is no region of nothing.)
    Edges(HybridCrew& crew, int lines, std::size_t most)
        : job_(crew.job()),
          threads_(crew.local_size()),
          lines_(std::max(lines, 1)),
          most_((most * sizeof(T) + line_bytes - 1) / line_bytes * line_bytes / sizeof(T)),
          places_(job_.allocate<T>(2 * ends() * most_)),
          arrivals_(job_.allocate<Arrival>(ends())),
          turns_(ends()),
          started_(static_cast<std::size_t>(threads_)) {}

    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        const std::uint64_t turn = ++turns_[end(worker.local(), link.line)].count;
        const std::size_t there = end(link.partner % threads_, link.partner_line);
        job_.put_signal(link.partner / threads_, place(there, turn), data, arrivals_[there].count, turn);
        started_[static_cast<std::size_t>(worker.local())].lines.push_back(link.line);
    }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        auto& started = started_[static_cast<std::size_t>(worker.local())].lines;
        for (const int line : started) {
            const std::size_t here = end(worker.local(), line);
            job_.wait(arrivals_[here].count, Comparison::at_least, turns_[here].count);
        }
        started.clear();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker& worker, const Link& link) {
        const std::size_t here = end(worker.local(), link.line);
        return place(here, turns_[here].count);
    }

private:
    /// Each with a cache line of its own, so that neighbours do not disturb each other.
    struct alignas(line_bytes) Arrival {
        Signal count;
    };
    struct alignas(line_bytes) Turn {
        std::uint64_t count = 0; ///< of exchanges so far; both ends of a line count the same
    };
    struct alignas(line_bytes) Started {
        std::vector<int> lines;
    };

    std::size_t ends() const { return static_cast<std::size_t>(threads_) * static_cast<std::size_t>(lines_); }
    std::size_t end(int thread, int line) const {
        return static_cast<std::size_t>(thread) * static_cast<std::size_t>(lines_) + static_cast<std::size_t>(line);
    }
    T* place(std::size_t end, std::uint64_t turn) { return places_.data() + (2 * end + turn % 2) * most_; }

    Job& job_;
    int threads_, lines_;
    std::size_t most_; ///< elements of a place, whole cache lines
    Region<T> places_; ///< by thread, line and turn
    Region<Arrival> arrivals_;
    std::vector<Turn> turns_;
    std::vector<Started> started_; ///< by thread: lines started since the last finish
};

} // namespace kumiki::kernels
