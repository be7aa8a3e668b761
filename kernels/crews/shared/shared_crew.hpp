#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/crews/hybrid/hybrid_crew.hpp"
#include "kernels/crews/shared/placed_array.hpp"

namespace kumiki::kernels {

/// The crew of the form `shared`: the threads of Kumiki's ranks, whose data are in shared arrays. They read each
/// other's data where these are, and nobody sends anything: the barrier of the shared arrays makes them visible.
class SharedCrew : public HybridCrew {
public:
    class Worker : public HybridCrew::Worker {
    public:
        Worker(SharedCrew& crew, Member& member) : HybridCrew::Worker(crew, member), job_(crew.job()) {}
        /// While one thread of the rank makes the arrays consistent, the others must not access them.
        void barrier() {
            local_barrier();
            if (local() == 0) job_.shared_barrier();
            local_barrier();
        }

    private:
        Job& job_;
    };

    template <class T>
    class Memory;
    template <class T>
    class Edges;
    class SharedVector;
    class KeyExchange;
    class Panels;
    class Blocks;

    /// Collective. `page` in bytes; 0: the system's page.
    SharedCrew(Job& job, bool all_threads, const std::string& homes, const std::string& protocol, std::size_t page)
        : HybridCrew(job, all_threads), pages_(job, homes, protocol, page) {}

    SharedPages& pages() { return pages_; }
    Workers workers() {
        Workers made = HybridCrew::workers();
        made.form = "shared";
        const std::string mechanism = kumiki_shared_mechanism(job().handle());
        const HomeCount count = pages_.home_count();
        made.pages = PagesUsed{.homes = pages_.homes(),
                               .protocol = pages_.protocol(),
                               .copies = mechanism == "none" ? "host" : "rank",
                               .mechanism = mechanism,
                               .page_bytes = pages_.page_bytes(),
                               .homes_different = count.percent_different()};
        return made;
    }

    template <class Body>
    RunTimes run(Body body) {
        pages_.begin_run();
        const kumiki_shared_counters before = counters();
        RunTimes times = run_workers<Worker>(*this, body);
        const kumiki_shared_counters after = counters();
        const auto moved = [&](std::uint64_t kumiki_shared_counters::* count) {
            return job().all_reduce(static_cast<double>(after.*count) - static_cast<double>(before.*count),
                                    Operation::sum);
        };
        times.pages = {moved(&kumiki_shared_counters::fetches), moved(&kumiki_shared_counters::differences)};
        return times;
    }

private:
    /// Of this rank, over the present arrays.
    kumiki_shared_counters counters() {
        kumiki_shared_counters counted{};
        kumiki::detail::check(kumiki_shared_count(job().handle(), nullptr, &counted));
        return counted;
    }

    SharedPages pages_;
};

/// The grids of the workers are in a shared array, too, although no other rank reads them: so it matters which rank is
/// the home of their pages, as it does in a program that is written for shared memory.
template <class T>
class SharedCrew::Memory {
public:
    /// Collective.
    Memory(SharedCrew& crew, std::size_t count) : parts_(crew.pages(), crew.size(), crew.local_size(), count) {}
    std::span<T> of(const Worker& worker) { return parts_.of(worker.index()); }

private:
    WorkerParts<T> parts_;
};

/// A worker copies its edges to a place of its own, and its partners read them there after the barrier. Each line has
/// two places, used in turn: a partner may still read the data of the previous exchange.
template <class T>
class SharedCrew::Edges {
public:
    /// Collective.
    Edges(SharedCrew& crew, int lines, std::size_t most)
        : most_((most * sizeof(T) + line_bytes - 1) / line_bytes * line_bytes / sizeof(T)),
          places_(crew.pages(), crew.size(), crew.local_size(), 2 * static_cast<std::size_t>(lines) * most_),
          turns_(static_cast<std::size_t>(crew.local_size())) {
        for (Turns& turns : turns_) turns.of_line.resize(static_cast<std::size_t>(lines));
    }

    static void expect(const Worker&, const Link&) {}
    void start(Worker& worker, const Link& link, std::span<const T> data) {
        worker.enter(Phase::communication);
        ++turn(worker, link);
        std::ranges::copy(data, place(worker.index(), link.line, turn(worker, link)));
    }
    static void started(Worker& worker) { worker.enter(Phase::computation); }
    static void finish(Worker& worker) { meet(worker); }
    /// Both ends of a line count in the same way.
    const T* arrived(const Worker& worker, const Link& link) {
        return place(link.partner, link.partner_line, turn(worker, link));
    }

private:
    struct alignas(line_bytes) Turns {
        std::vector<std::size_t> of_line;
    };

    std::size_t& turn(const Worker& worker, const Link& link) {
        return turns_[static_cast<std::size_t>(worker.local())].of_line[static_cast<std::size_t>(link.line)];
    }
    T* place(int worker, int line, std::size_t turn) {
        return &places_.of(worker)[(2 * static_cast<std::size_t>(line) + turn % 2) * most_];
    }

    std::size_t most_; ///< elements of a place, whole cache lines
    WorkerParts<T> places_;
    std::vector<Turns> turns_; ///< by thread
};

} // namespace kumiki::kernels
