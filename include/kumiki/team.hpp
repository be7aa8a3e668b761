#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <span>
#include <type_traits>

#include "kumiki/error.hpp"
#include "kumiki/job.hpp"
#include "kumiki/type.hpp"

namespace kumiki {

/// A contiguous part of the range 0 .. count.
struct Part {
    std::size_t begin, end;
    std::size_t size() const noexcept { return end - begin; }
};

/// Returns part `index` of `parts` of the range 0 .. count. The sizes of parts differ by at most one.
inline Part part_of(std::size_t count, int parts, int index) noexcept {
    Part part{};
    kumiki_part(count, parts, index, &part.begin, &part.end);
    return part;
}

/// A thread of a team, inside Team::run: its number and its share of the work, and how it synchronizes with the others.
class Member {
public:
    Member(kumiki_team* team, int thread) : team_(team), thread_(thread) {}

    int thread() const noexcept { return thread_; }
    int threads() const noexcept { return kumiki_team_size(team_); }
    bool master() const noexcept { return thread_ == 0; }

    /// This thread's part of the range 0 .. count.
    Part part(std::size_t count) const noexcept { return part_of(count, threads(), thread_); }

    /// Waits for all threads of this rank.
    void barrier() { detail::check(kumiki_team_barrier(team_, thread_)); }
    /// Waits for all threads of all ranks: first the threads of each rank, then one thread per rank (COMPaS paper,
    /// section 4).
    void barrier_all() { detail::check(kumiki_team_barrier_all(team_, thread_)); }

    /// Combines over the threads of this rank; every thread gets the result.
    template <Reducible T>
    void reduce(std::span<T> data, Operation operation) {
        detail::check(kumiki_team_reduce(team_, thread_, data.data(), data.size(), detail::type_of<T>(),
                                         detail::code(operation)));
    }
    template <Reducible T>
    T reduce(T value, Operation operation) {
        reduce(std::span<T>(&value, 1), operation);
        return value;
    }
    /// Combines over all threads of all ranks; every thread gets bitwise the same result.
    template <Reducible T>
    void reduce_all(std::span<T> data, Operation operation) {
        detail::check(kumiki_team_reduce_all(team_, thread_, data.data(), data.size(), detail::type_of<T>(),
                                             detail::code(operation)));
    }
    template <Reducible T>
    T reduce_all(T value, Operation operation) {
        reduce_all(std::span<T>(&value, 1), operation);
        return value;
    }

private:
    kumiki_team* team_;
    int thread_;
};

/// The threads of a rank, bound to its cores and kept between runs. The thread that calls run() is thread 0.
class Team {
public:
    /// `threads` = 0 means the number that the launcher gives this rank.
    explicit Team(Job& job, int threads = 0) { detail::check(kumiki_team_create(job.handle(), threads, &team_)); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team() { kumiki_team_destroy(team_); }

    int size() const noexcept { return kumiki_team_size(team_); }

    /// Runs body(Member&) on every thread and returns when all threads have finished. Rethrows the first exception of a
    /// thread; threads that wait for the thread that threw get an Error.
    template <class Body>
    void run(Body&& body) {
        struct Call {
            kumiki_team* team;
            std::remove_reference_t<Body>* body;
            std::atomic<bool> failed{false};
            std::exception_ptr failure;
        } call{team_, &body, {}, {}};
        const auto trampoline = [](void* context, int thread) {
            auto& mine = *static_cast<Call*>(context);
            try {
                Member member(mine.team, thread);
                (*mine.body)(member);
            } catch (...) {
                if (!mine.failed.exchange(true)) mine.failure = std::current_exception();
                kumiki_team_break(mine.team, thread);
            }
        };
        detail::check(kumiki_team_run(team_, trampoline, &call));
        if (call.failure) std::rethrow_exception(call.failure);
    }

private:
    kumiki_team* team_ = nullptr;
};

} // namespace kumiki
