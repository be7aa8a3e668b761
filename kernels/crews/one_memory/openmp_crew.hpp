#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/crews/crew.hpp"

namespace kumiki::kernels {

/// The crew of the form `openmp`: the threads of one parallel region. As usual, they are bound from outside
/// (OMP_PROC_BIND=true).
class OpenMpCrew {
    /// The place where a thread leaves its part of a sum. Sums use the two places in turn, because a thread may reach
    /// the next sum while others still read this one.
    struct alignas(line_bytes) Slot {
        std::array<std::array<std::uint64_t, most_summed>, 2> bits;
    };

public:
    class Worker : public TimedWorker {
    public:
        explicit Worker(OpenMpCrew& crew)
            : TimedWorker(omp_get_thread_num() == 0), crew_(crew), index_(omp_get_thread_num()) {}
        int index() const { return index_; }
        int local() const { return index_; }
        void barrier() {
#pragma omp barrier
        }
        void local_barrier() { barrier(); }
        template <Summed T>
        T sum(T value) {
            add_up(std::span(&value, 1));
            return value;
        }
        void sum(std::span<double> numbers) { add_up(numbers); }

    private:
        template <class T>
        void add_up(std::span<T> numbers) {
            const std::size_t place = sums_++ % 2;
            auto& own = crew_.slots_[static_cast<std::size_t>(index_)].bits[place];
            std::ranges::transform(numbers, own.begin(), [](T number) { return std::bit_cast<std::uint64_t>(number); });
            barrier();
            std::ranges::fill(numbers, T{});
            for (const Slot& slot : crew_.slots_)
                for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += std::bit_cast<T>(slot.bits[place][i]);
        }

        OpenMpCrew& crew_;
        int index_;
        std::size_t sums_ = 0;
    };

    template <class T>
    using Memory = OwnMemory<T>;
    template <class T>
    class Edges;
    class SharedVector;
    class KeyExchange;
    class Panels;
    class Blocks;

    explicit OpenMpCrew(int threads) : slots_(static_cast<std::size_t>(threads)) {}

    int size() const { return static_cast<int>(slots_.size()); }
    int local_size() const { return size(); }
    static int rank() { return 0; }
    Workers workers() const { return {"openmp", "openmp", 1, size(), exceeds_cores(size())}; }
    static bool agree(bool mine) { return mine; }
    static void add_up(std::span<double>) {}

    template <class Body>
    RunTimes run(Body body) {
        RunTimes times;
#pragma omp parallel num_threads(size())
        {
            Worker worker(*this);
            const RunTimes own = timed(worker, body);
            if (worker.index() == 0) times = own;
        }
        return times;
    }

private:
    std::vector<Slot> slots_;
};

/// A thread copies its edges to the places where its partners read them; one barrier of all threads announces them.
/// Each line has two places, used in turn: a partner may still read the data of the previous exchange.
template <class T>
class OpenMpCrew::Edges {
public:
    Edges(OpenMpCrew& crew, int lines, std::size_t most) : ends_(static_cast<std::size_t>(crew.size())) {
        // Every thread allocates its own lines, so that they are near it.
        crew.run([&](const Worker& worker) {
            auto& own = ends_[static_cast<std::size_t>(worker.index())];
            own.resize(static_cast<std::size_t>(lines));
            for (End& end : own)
                for (auto& place : end.places) place.resize(most);
        });
    }

    static void expect(const Worker&, const Link&) {}
    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        const std::size_t turn = ++end(worker.index(), link.line).turns % 2;
        std::ranges::copy(data, end(link.partner, link.partner_line).places[turn].begin());
    }
    static void started(Worker& worker) { worker.enter(Phase::computation); }
    static void finish(Worker& worker) { meet(worker); }
    const T* arrived(const Worker& worker, const Link& link) {
        End& own = end(worker.index(), link.line);
        return own.places[own.turns % 2].data();
    }

private:
    struct End {
        std::array<AlignedVector<T>, 2> places;
        std::size_t turns = 0; ///< both ends of a line count in the same way
    };

    End& end(int worker, int line) { return ends_[static_cast<std::size_t>(worker)][static_cast<std::size_t>(line)]; }

    std::vector<std::vector<End>> ends_; ///< by worker and line
};

} // namespace kumiki::kernels
