#pragma once

#include <algorithm>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/crews/crew.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// The lines on which the threads of Kumiki's ranks exchange edges: a place for arriving data, which other ranks write,
/// and a signal that announces them. Two places for each line, used in turn, are enough flow control: before a partner
/// writes to a place again, it has received data that were sent after the previous contents of the place had been used.
template <class T>
class RankLines {
public:
    /// Collective. (One line is made even if none is requested, because a region cannot be empty.)
    RankLines(Job& job, int threads, int lines, std::size_t most)
        : job_(job),
          threads_(threads),
          lines_(std::max(lines, 1)),
          most_((most * sizeof(T) + line_bytes - 1) / line_bytes * line_bytes / sizeof(T)),
          places_(job_.allocate<T>(2 * ends() * most_)),
          arrivals_(job_.allocate<Arrival>(ends())),
          turns_(ends()) {}

    /// The number of the exchange that this thread begins on a line; both ends of a line count in the same way.
    std::uint64_t next_turn(int thread, const Link& link) { return ++turns_[end(thread, link.line)].count; }
    /// Sends data to the other end.
    void put(const Link& link, std::span<const T> data, std::uint64_t turn) {
        const std::size_t there = partner_end(link);
        job_.put_signal(link.partner / threads_, place(there, turn), data, arrivals_[there].count, turn);
    }
    /// The place at which the partner, a thread of this rank, will read.
    T* partner_place(const Link& link, std::uint64_t turn) { return place(partner_end(link), turn); }
    /// Waits for the data that the partner puts in the present turn of this thread's line.
    void await(int thread, int line) {
        const std::size_t here = end(thread, line);
        job_.wait(arrivals_[here].count, Comparison::at_least, turns_[here].count);
    }
    /// The data that arrived in the present turn.
    const T* arrived(int thread, const Link& link) {
        const std::size_t here = end(thread, link.line);
        return place(here, turns_[here].count);
    }

private:
    /// Each with a cache line of its own, so that neighbours do not disturb each other.
    struct alignas(line_bytes) Arrival {
        Signal count;
    };
    struct alignas(line_bytes) Turn {
        std::uint64_t count = 0;
    };

    std::size_t ends() const { return static_cast<std::size_t>(threads_) * static_cast<std::size_t>(lines_); }
    std::size_t end(int thread, int line) const {
        return static_cast<std::size_t>(thread) * static_cast<std::size_t>(lines_) + static_cast<std::size_t>(line);
    }
    std::size_t partner_end(const Link& link) const { return end(link.partner % threads_, link.partner_line); }
    T* place(std::size_t end, std::uint64_t turn) { return places_.data() + (2 * end + turn % 2) * most_; }

    Job& job_;
    int threads_, lines_;
    std::size_t most_; ///< elements of a place, whole cache lines
    Region<T> places_; ///< by thread, line and turn
    Region<Arrival> arrivals_;
    std::vector<Turn> turns_; ///< by thread and line
};

} // namespace kumiki::kernels
