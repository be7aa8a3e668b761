#pragma once

#include <array>
#include <vector>

#include "kernels/crews/hybrid/hybrid_crew.hpp"

namespace kumiki::kernels {

/// The crew of the form `message`: that of `hybrid`, but workers exchange data in messages, as in an MPI program.
class MessageCrew : public HybridCrew {
public:
    template <class T>
    class Edges;
    class SharedVector;
    class KeyExchange;
    class Panels;
    class Blocks;

    using HybridCrew::HybridCrew;

    Workers workers() const {
        Workers made = HybridCrew::workers();
        made.form = "message";
        return made;
    }
};

/// Between any two threads, the receive is started before the send. A tag identifies the end of a line in its rank.
/// Each line has two places for arriving data, used in turn: the program may still use the data in one place while the
/// next edge arrives in the other.
template <class T>
class MessageCrew::Edges {
public:
    Edges(MessageCrew& crew, int lines, std::size_t most)
        : job_(crew.job()), threads_(crew.local_size()), most_(most), desks_(static_cast<std::size_t>(threads_)) {
        for (Desk& desk : desks_) {
            desk.ends.resize(static_cast<std::size_t>(lines));
            for (End& end : desk.ends) end.places[0].resize(most);
        }
    }

    void expect(Worker& worker, const Link& link) {
        End& own = end(worker, link);
        own.turn = 1 - own.turn;
        if (place(own).empty()) place(own).resize(most_);
        receive(worker, link);
    }
    void start(Worker& worker, const Link& link, std::span<const T> data) {
        if (!end(worker, link).receiving) receive(worker, link);
        worker.enter(Phase::communication);
        desk(worker).requests.push_back(
            job_.send(link.partner / threads_, tag(link.partner % threads_, link.partner_line), data));
        end(worker, link).receiving = false;
    }
    static void started(Worker& worker) { worker.enter(Phase::computation); }
    void finish(Worker& worker) {
        worker.enter(Phase::communication);
        wait_all(desk(worker).requests);
        desk(worker).requests.clear();
        worker.enter(Phase::computation);
    }
    const T* arrived(const Worker& worker, const Link& link) { return place(end(worker, link)).data(); }

private:
    struct End {
        std::array<AlignedVector<T>, 2> places;
        std::size_t turn = 0;
        bool receiving = false; ///< and not yet sending
    };
    /// The data of one thread.
    struct alignas(line_bytes) Desk {
        std::vector<End> ends;         ///< by line
        std::vector<Request> requests; ///< since the last finish
    };

    int tag(int thread, int line) const { return line * threads_ + thread; }
    Desk& desk(const Worker& worker) { return desks_[static_cast<std::size_t>(worker.local())]; }
    End& end(const Worker& worker, const Link& link) { return desk(worker).ends[static_cast<std::size_t>(link.line)]; }
    static AlignedVector<T>& place(End& end) { return end.places[end.turn]; }

    void receive(Worker& worker, const Link& link) {
        worker.enter(Phase::communication);
        desk(worker).requests.push_back(
            job_.receive(link.partner / threads_, tag(worker.local(), link.line), place(end(worker, link))));
        end(worker, link).receiving = true;
    }

    Job& job_;
    int threads_;
    std::size_t most_;
    std::vector<Desk> desks_; ///< by thread
};

} // namespace kumiki::kernels
