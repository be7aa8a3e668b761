#pragma once

#include <algorithm>
#include <vector>

#include "kernels/crews/message/message_crew.hpp"
#include "kernels/crews/shared_vector.hpp"

namespace kumiki::kernels {

/// Every part travels in pieces, so that a worker can compute with the pieces that have arrived while the next are
/// under way (the overlap of Maestro's CG). If ranks have several threads, a part travels as a whole, from each thread
/// to the thread of the same number in each other rank, and the threads of a rank synchronise when everything has
/// arrived: otherwise they would have to synchronise for every piece.
class MessageCrew::SharedVector {
public:
    SharedVector(MessageCrew& crew, std::span<const Range> parts)
        : job_(crew.job()), threads_(crew.local_size()), vector_(parts.back().end) {
        for (int thread = 0; thread < threads_; ++thread) {
            Desk& desk = desks_.emplace_back();
            const auto part_in = [&](int rank) { return parts[static_cast<std::size_t>(rank * threads_ + thread)]; };
            desk.own = cut(part_in(job_.rank()));
            for_others([&](int rank) {
                int number = 0;
                for (const Range piece : cut(part_in(rank))) {
                    desk.pieces.push_back(piece);
                    desk.sources.push_back({rank, number++});
                }
            });
        }
    }

    std::span<double> span() { return vector_; }
    void start(Worker& worker) {
        Desk& own = desk(worker);
        worker.enter(Phase::communication);
        for (std::size_t piece = 0; piece < own.pieces.size(); ++piece)
            own.receives.push_back(
                job_.receive(own.sources[piece].rank, tag(worker, own.sources[piece].number), at(own.pieces[piece])));
        for_others([&](int rank) {
            int number = 0;
            for (const Range piece : own.own) own.sends.push_back(job_.send(rank, tag(worker, number++), at(piece)));
        });
        if (threads_ > 1) {
            wait_all(own.receives);
            worker.enter(Phase::synchronisation);
            worker.local_barrier();
        }
        worker.enter(Phase::computation);
    }
    /// Looks only a few times: on one host messages move during these looks, and everything arrives in less time than
    /// pieces cost.
    bool complete(Worker& worker) {
        const auto arrived = [](Request& each) { return !each.open() || each.test(); };
        for (int look = 0; look < 32; ++look)
            if (std::ranges::all_of(desk(worker).receives, arrived)) return true;
        return false;
    }
    std::span<const Range> pieces(const Worker& worker) {
        return threads_ == 1 ? desk(worker).pieces : std::span<const Range>();
    }
    void await(Worker& worker, std::size_t piece) {
        Request& receive = desk(worker).receives[piece];
        if (!receive.open()) return;
        worker.enter(Phase::communication);
        receive.wait();
        worker.enter(Phase::computation);
    }
    void finish(Worker& worker) {
        Desk& own = desk(worker);
        worker.enter(Phase::communication);
        wait_all(own.sends);
        own.receives.clear();
        own.sends.clear();
        worker.enter(Phase::computation);
    }

private:
    /// The number of pieces in the parts of all others together. More pieces leave less work after the last one, but
    /// each costs time of its own.
    static constexpr int pieces_of_others = 4;

    struct Source {
        int rank;
        int number; ///< among the pieces of that part; it is part of the message's tag
    };
    /// The data of one thread.
    struct alignas(line_bytes) Desk {
        std::vector<Range> own;      ///< the own part's pieces
        std::vector<Range> pieces;   ///< the others'
        std::vector<Source> sources; ///< by piece
        std::vector<Request> receives, sends;
    };

    /// The pieces of a part: the last one, whose computation hides nothing, is the shortest.
    std::vector<Range> cut(Range part) const {
        const int wanted = threads_ == 1 ? pieces_of_others / std::max(job_.size() - 1, 1) : 1;
        const auto pieces = static_cast<std::size_t>(std::max(wanted, 1));
        const std::size_t shares = pieces * (pieces + 1) / 2; // of which the first piece gets `pieces`, the last one
        std::vector<Range> made;
        std::size_t before = 0;
        for (std::size_t weight = pieces; weight > 0; before += weight--)
            made.push_back(
                {part.begin + part.size() * before / shares, part.begin + part.size() * (before + weight) / shares});
        return made;
    }
    /// Calls visit(rank) for all other ranks, each beginning with a different one.
    template <class Visit>
    void for_others(Visit visit) const {
        for (int distance = 1; distance < job_.size(); ++distance) visit((job_.rank() + distance) % job_.size());
    }
    int tag(const Worker& worker, int number) const { return number * threads_ + worker.local(); }
    Desk& desk(const Worker& worker) { return desks_[static_cast<std::size_t>(worker.local())]; }
    std::span<double> at(Range range) { return span().subspan(range.begin, range.size()); }

    Job& job_;
    int threads_;
    AlignedVector<double> vector_;
    std::vector<Desk> desks_; ///< by thread
};

} // namespace kumiki::kernels
