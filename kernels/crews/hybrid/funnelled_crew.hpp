#pragma once

#include <algorithm>
#include <vector>

#include "kernels/crews/hybrid/hybrid_crew.hpp"

namespace kumiki::kernels {

/// The crew of the form `hybrid` in which the first thread of each rank does all communication with other ranks, as in
/// the COMPaS paper (section 5.3): this then takes the same time however many threads there are.
class FunnelledCrew : public HybridCrew {
public:
    template <class T>
    class Edges;

    using HybridCrew::HybridCrew;
};

/// Threads of a rank copy their edges to each other and synchronise at a barrier, as those of OpenMP do. The first
/// thread puts all edges that leave the rank, each with a signal, and waits for those that arrive. Each line has two
/// places, which are used in turn, as in the other crews.
template <class T>
class FunnelledCrew::Edges {
public:
    /// Collective.
    Edges(FunnelledCrew& crew, int lines, std::size_t most)
        : job_(crew.job()),
          threads_(crew.local_size()),
          lines_(job_, threads_, lines, most),
          outward_(static_cast<std::size_t>(threads_)) {}

    static void expect(const Worker&, const Link&) {}
    void start(Worker& worker, const Link& link, std::span<const T> data) {
        const auto turn = lines_.next_turn(worker.local(), link);
        if (link.partner / threads_ == job_.rank()) {
            std::ranges::copy(data, lines_.partner_place(link, turn));
        } else outward_[static_cast<std::size_t>(worker.local())].lines.push_back({link, data, turn});
    }
    void started(Worker& worker) {
        // The first thread sends the data that the others have computed.
        if (threads_ > 1 && job_.size() > 1) meet_in_rank(worker);
        if (worker.local() == 0) {
            worker.enter(Phase::communication);
            for (const Outward& each : outward_)
                for (const auto& [link, data, turn] : each.lines) lines_.put(link, data, turn);
        }
        worker.enter(Phase::computation);
    }
    void finish(Worker& worker) {
        if (worker.local() == 0) {
            worker.enter(Phase::communication);
            for (std::size_t thread = 0; thread < outward_.size(); ++thread) {
                for (const auto& each : outward_[thread].lines) lines_.await(static_cast<int>(thread), each.link.line);
                outward_[thread].lines.clear();
            }
        }
        if (threads_ > 1) meet_in_rank(worker);
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker& worker, const Link& link) { return lines_.arrived(worker.local(), link); }

private:
    struct Line {
        Link link;
        std::span<const T> data;
        std::uint64_t turn;
    };
    /// The data that a thread has to send to other ranks.
    struct alignas(line_bytes) Outward {
        std::vector<Line> lines;
    };

    static void meet_in_rank(Worker& worker) {
        worker.enter(Phase::synchronisation);
        worker.local_barrier();
    }

    Job& job_;
    int threads_;
    RankLines<T> lines_;
    std::vector<Outward> outward_; ///< by thread
};

} // namespace kumiki::kernels
