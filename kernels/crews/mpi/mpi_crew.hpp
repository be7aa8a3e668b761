#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/crews/crew.hpp"
#include "kernels/crews/mpi/mpi_job.hpp"

namespace kumiki::kernels {

template <class T>
MPI_Datatype mpi_type() {
    if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
    else if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
    else if constexpr (std::is_same_v<T, std::uint32_t>) return MPI_UINT32_T;
    else {
        static_assert(std::is_same_v<T, std::uint64_t>);
        return MPI_UINT64_T;
    }
}

/// The crew of the form `mpi`: processes of one thread.
class MpiCrew {
public:
    class Worker : public TimedWorker {
    public:
        explicit Worker(const MpiJob& job) : TimedWorker(true), job_(job) {}
        int index() const { return job_.rank(); }
        static int local() { return 0; }
        void barrier() { job_.barrier(); }
        static void local_barrier() {}
        template <Summed T>
        T sum(T value) {
            add_up(std::span(&value, 1));
            return value;
        }
        void sum(std::span<double> numbers) { add_up(numbers); }

    private:
        template <class T>
        static void add_up(std::span<T> numbers) {
            MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), mpi_type<T>(), MPI_SUM,
                          MPI_COMM_WORLD);
        }

        const MpiJob& job_;
    };

    template <class T>
    using Memory = OwnMemory<T>;
    template <class T>
    class Edges;
    class SharedVector;
    class KeyExchange;
    class Panels;
    class Blocks;

    explicit MpiCrew(const MpiJob& job) : job_(job) {}

    int size() const { return job_.size(); }
    static int local_size() { return 1; }
    int rank() const { return job_.rank(); }
    Workers workers() const { return {KUMIKI_PEER_NAME, "mpi", size(), 1, exceeds_cores(size())}; }
    bool agree(bool mine) const { return job_.agree(mine); }
    static void add_up(std::span<double> numbers) {
        MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }

    template <class Body>
    RunTimes run(Body body) {
        Worker worker(job_);
        return job_.largest(timed(worker, body));
    }

protected:
    const MpiJob& job() const { return job_; }

private:
    const MpiJob& job_;
};

/// Non-blocking messages; the receive is started before the send. Each line has two places for arriving data, used in
/// turn: the program may still use the data in one place while the next edge arrives in the other.
template <class T>
class MpiCrew::Edges {
public:
    Edges(const MpiCrew&, int lines, std::size_t most) : ends_(static_cast<std::size_t>(lines)), most_(most) {
        for (End& end : ends_) end.places[0].resize(most);
    }

    void expect(Worker& worker, const Link& link) {
        End& own = end(link);
        own.turn = 1 - own.turn;
        if (place(own).empty()) place(own).resize(most_);
        receive(worker, link);
    }
    void start(Worker& worker, const Link& link, std::span<const T> data) {
        if (!end(link).receiving) receive(worker, link);
        worker.enter(Phase::communication);
        MPI_Isend(data.data(), count(data), mpi_type<T>(), link.partner, link.partner_line, MPI_COMM_WORLD,
                  &requests_.emplace_back());
        end(link).receiving = false;
    }
    static void started(Worker& worker) { worker.enter(Phase::computation); }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker&, const Link& link) { return place(end(link)).data(); }

private:
    struct End {
        std::array<AlignedVector<T>, 2> places;
        std::size_t turn = 0;
        bool receiving = false; ///< and not yet sending
    };

    static int count(const auto& elements) { return static_cast<int>(elements.size()); }
    End& end(const Link& link) { return ends_[static_cast<std::size_t>(link.line)]; }
    static AlignedVector<T>& place(End& end) { return end.places[end.turn]; }

    void receive(Worker& worker, const Link& link) {
        worker.enter(Phase::communication);
        auto& into = place(end(link));
        MPI_Irecv(into.data(), count(into), mpi_type<T>(), link.partner, link.line, MPI_COMM_WORLD,
                  &requests_.emplace_back());
        end(link).receiving = true;
    }

    std::vector<End> ends_; ///< by line
    std::size_t most_;
    std::vector<MPI_Request> requests_;
};

} // namespace kumiki::kernels
