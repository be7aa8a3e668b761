#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/crew.hpp"

namespace kumiki::kernels {

/// The crew of the form `openmp`: the threads of one parallel region. Bind them from outside (OMP_PROC_BIND=true), as
/// is usual.
class OpenMpCrew {
    /// Where a thread leaves its part of a sum. Sums take the two places in turn, because a thread may come to the next
    /// one while others still read this one.
    struct alignas(line_bytes) Slot {
        std::array<std::uint64_t, 2> bits;
    };

public:
    class Worker {
    public:
        Worker(OpenMpCrew& crew, Phases& phases) : crew_(crew), phases_(phases), index_(omp_get_thread_num()) {}
        int index() const { return index_; }
        int local() const { return index_; }
        void enter(Phase phase) {
            if (index_ == 0) phases_.enter(phase);
        }
        void barrier() {
#pragma omp barrier
        }
        template <class T>
        T sum(T value) {
            const std::size_t place = sums_++ % 2;
            crew_.slots_[static_cast<std::size_t>(index_)].bits[place] = std::bit_cast<std::uint64_t>(value);
            barrier();
            T total{};
            for (const Slot& slot : crew_.slots_) total += std::bit_cast<T>(slot.bits[place]);
            return total;
        }

    private:
        OpenMpCrew& crew_;
        Phases& phases_;
        int index_;
        std::size_t sums_ = 0;
    };

    template <class T>
    class Edges;

    explicit OpenMpCrew(int threads) : slots_(static_cast<std::size_t>(threads)) {}

    int size() const { return static_cast<int>(slots_.size()); }
    int local_size() const { return size(); }
    static int rank() { return 0; }
    Workers workers() const { return {"openmp", "openmp", 1, size(), exceeds_cores(size())}; }
    static bool agree(bool mine) { return mine; }

    template <class Body>
    RunTimes run(Body body) {
        RunTimes times;
#pragma omp parallel num_threads(size())
        {
            Phases phases;
            Worker worker(*this, phases);
            worker.barrier();
            const auto start = measure::Clock::now();
            worker.enter(Phase::computation);
            body(worker);
            worker.enter(Phase::synchronisation);
            worker.barrier();
            phases.stop();
            if (worker.index() == 0) times = {measure::seconds_since(start), phases};
        }
        return times;
    }

private:
    std::vector<Slot> slots_;
};

/// A thread copies its edges to where its partners read them; one barrier of all threads says that they are there. Two
/// places for each line, in turn: a partner may still read what the exchange before brought.
template <class T>
class OpenMpCrew::Edges {
public:
    Edges(OpenMpCrew& crew, int lines, std::size_t most) : ends_(static_cast<std::size_t>(crew.size())) {
        // Every thread makes its own, so that they lie near it.
        crew.run([&](const Worker& worker) {
            auto& own = ends_[static_cast<std::size_t>(worker.index())];
            own.resize(static_cast<std::size_t>(lines));
            for (End& end : own)
                for (auto& place : end.places) place.resize(most);
        });
    }

    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        const std::size_t turn = ++end(worker.index(), link.line).turns % 2;
        std::ranges::copy(data, end(link.partner, link.partner_line).places[turn].begin());
    }
    void finish(Worker& worker) {
        worker.enter(Phase::synchronisation);
        worker.barrier();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker& worker, const Link& link) {
        End& own = end(worker.index(), link.line);
        return own.places[own.turns % 2].data();
    }

private:
    struct End {
        std::array<AlignedVector<T>, 2> places;
        std::size_t turns = 0; ///< both ends of a line count the same
    };

    End& end(int worker, int line) { return ends_[static_cast<std::size_t>(worker)][static_cast<std::size_t>(line)]; }

    std::vector<std::vector<End>> ends_; ///< by worker and line
};

} // namespace kumiki::kernels
