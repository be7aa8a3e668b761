#pragma once

#include <array>
#include <vector>

#include "kernels/common/cut.hpp"
#include "kernels/crews/mpi/mpi_crew.hpp"

namespace kumiki::kernels {

/// The crew of the form `sendrecv`: that of `mpi`, but edges travel only by MPI_Sendrecv, as in the programs of the
/// JAMSTEC paper. It exchanges the edges of tiles: the line of a side has that side's number (Cut).
class SendrecvCrew : public MpiCrew {
public:
    /// The edges that this process has sent, counted at every call.
    struct Traffic {
        std::uint64_t messages = 0, bytes = 0;
    };

    template <class T>
    class Edges;

    using MpiCrew::MpiCrew;

    Workers workers() const {
        Workers made = MpiCrew::workers();
        made.form = "sendrecv";
        return made;
    }
    /// Of all processes. Collective.
    Traffic traffic() const { return {job().sum(traffic_.messages), job().sum(traffic_.bytes)}; }

private:
    Traffic traffic_;
};

/// All edges first move in one direction through the grid, and then in the other: each call sends to one neighbour and
/// receives from the opposite one. If there is no neighbour, MPI sends nothing.
template <class T>
class SendrecvCrew::Edges {
public:
    Edges(SendrecvCrew& crew, int lines, std::size_t most)
        : traffic_(crew.traffic_), ends_(static_cast<std::size_t>(lines)) {
        for (End& end : ends_) end.place.resize(most);
    }

    static void expect(const Worker&, const Link&) {}
    void start(Worker&, const Link& link, std::span<const T> data) {
        End& end = ends_[static_cast<std::size_t>(link.line)];
        end.link = link;
        end.data = data;
        end.started = true;
    }
    static void started(Worker& worker) { worker.enter(Phase::computation); }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        for (const Side way : {Side::north, Side::south, Side::west, Side::east}) {
            End &to = at(way), &from = at(opposite(way));
            if (to.started || from.started) sendrecv(to, from);
        }
        for (End& end : ends_) end.started = false;
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker&, const Link& link) {
        return ends_[static_cast<std::size_t>(link.line)].place.data();
    }

private:
    /// One end of the line to a neighbour.
    struct End {
        Link link;
        std::span<const T> data;
        AlignedVector<T> place; ///< for what arrives
        bool started = false;
    };

    End& at(Side side) { return ends_[static_cast<std::size_t>(side)]; }

    void sendrecv(const End& to, End& from) {
        const int target = to.started ? to.link.partner : MPI_PROC_NULL;
        const int source = from.started ? from.link.partner : MPI_PROC_NULL;
        const auto count = to.started ? to.data.size() : 0;
        MPI_Sendrecv(to.data.data(), static_cast<int>(count), mpi_type<T>(), target, to.link.partner_line,
                     from.place.data(), static_cast<int>(from.place.size()), mpi_type<T>(), source, from.link.line,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!to.started) return;
        ++traffic_.messages;
        traffic_.bytes += count * sizeof(T);
    }

    Traffic& traffic_;
    std::vector<End> ends_; ///< by side
};

} // namespace kumiki::kernels
