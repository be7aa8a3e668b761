#pragma once

#include <vector>

#include "kernels/common/hybrid_crew.hpp"

namespace kumiki::kernels {

/// The crew of the form `message`: that of `hybrid`, but what workers exchange travels in messages, as in a program for
/// MPI.
class MessageCrew : public HybridCrew {
public:
    template <class T>
    class Edges;

    using HybridCrew::HybridCrew;

    Workers workers() const {
        Workers made = HybridCrew::workers();
        made.form = "message";
        return made;
    }
};

/// The receive before the send, between any two threads: a tag names the end of a line in its rank.
template <class T>
class MessageCrew::Edges {
public:
    Edges(MessageCrew& crew, int lines, std::size_t most)
        : job_(crew.job()), threads_(crew.local_size()), desks_(static_cast<std::size_t>(threads_)) {
        for (Desk& desk : desks_) desk.places.assign(static_cast<std::size_t>(lines), AlignedVector<T>(most));
    }

    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        const int partner = link.partner / threads_;
        auto& requests = desk(worker).requests;
        requests.push_back(job_.receive(partner, tag(worker.local(), link.line), place(worker, link)));
        requests.push_back(job_.send(partner, tag(link.partner % threads_, link.partner_line), data));
    }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        wait_all(desk(worker).requests);
        desk(worker).requests.clear();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker& worker, const Link& link) { return place(worker, link).data(); }

private:
    /// What one thread has.
    struct alignas(line_bytes) Desk {
        std::vector<AlignedVector<T>> places; ///< by line
        std::vector<Request> requests;        ///< since the last finish
    };

    int tag(int thread, int line) const { return line * threads_ + thread; }
    Desk& desk(const Worker& worker) { return desks_[static_cast<std::size_t>(worker.local())]; }
    AlignedVector<T>& place(const Worker& worker, const Link& link) {
        return desk(worker).places[static_cast<std::size_t>(link.line)];
    }

    Job& job_;
    int threads_;
    std::vector<Desk> desks_; ///< by thread
};

} // namespace kumiki::kernels
