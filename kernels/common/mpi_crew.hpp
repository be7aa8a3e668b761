#pragma once

#include <mpi.h>

#include <type_traits>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/crew.hpp"
#include "kernels/common/mpi_job.hpp"

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
    class Worker {
    public:
        Worker(const MpiJob& job, Phases& phases) : job_(job), phases_(phases) {}
        int index() const { return job_.rank(); }
        static int local() { return 0; }
        void enter(Phase phase) { phases_.enter(phase); }
        void barrier() { job_.barrier(); }
        template <class T>
        T sum(T value) {
            MPI_Allreduce(MPI_IN_PLACE, &value, 1, mpi_type<T>(), MPI_SUM, MPI_COMM_WORLD);
            return value;
        }

    private:
        const MpiJob& job_;
        Phases& phases_;
    };

    template <class T>
    class Edges;

    explicit MpiCrew(const MpiJob& job) : job_(job) {}

    int size() const { return job_.size(); }
    static int local_size() { return 1; }
    int rank() const { return job_.rank(); }
    Workers workers() const { return {KUMIKI_PEER_NAME, "mpi", size(), 1, exceeds_cores(size())}; }
    bool agree(bool mine) const { return job_.agree(mine); }

    template <class Body>
    RunTimes run(Body body) {
        Phases phases;
        Worker worker(job_, phases);
        job_.barrier();
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        body(worker);
        phases.enter(Phase::synchronisation);
        job_.barrier();
        phases.stop();
        return job_.largest({measure::seconds_since(start), phases});
    }

protected:
    const MpiJob& job() const { return job_; }

private:
    const MpiJob& job_;
};

/// Non-blocking messages, the receive before the send.
template <class T>
class MpiCrew::Edges {
public:
    Edges(const MpiCrew&, int lines, std::size_t most) : places_(static_cast<std::size_t>(lines)) {
        for (auto& place : places_) place.resize(most);
    }

    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        MPI_Irecv(place(link).data(), count(place(link)), mpi_type<T>(), link.partner, link.line, MPI_COMM_WORLD,
                  &requests_.emplace_back());
        MPI_Isend(data.data(), count(data), mpi_type<T>(), link.partner, link.partner_line, MPI_COMM_WORLD,
                  &requests_.emplace_back());
    }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker&, const Link& link) { return place(link).data(); }

private:
    static int count(const auto& elements) { return static_cast<int>(elements.size()); }
    AlignedVector<T>& place(const Link& link) { return places_[static_cast<std::size_t>(link.line)]; }

    std::vector<AlignedVector<T>> places_; ///< by line
    std::vector<MPI_Request> requests_;
};

} // namespace kumiki::kernels
