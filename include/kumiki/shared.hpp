#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "kumiki/elements.hpp"

namespace kumiki {

/// How the pages of a shared array get their homes (kumiki_homes).
enum class Homes {
    block = KUMIKI_HOMES_BLOCK,
    cyclic = KUMIKI_HOMES_CYCLIC,
    first = KUMIKI_HOMES_FIRST,
    relocated = KUMIKI_HOMES_RELOCATED,
    managed = KUMIKI_HOMES_MANAGED
};

/// A type whose values can be stored in a shared array. Pointers are among them: those into shared arrays mean the same
/// in every rank.
template <class T>
concept Shareable = std::is_trivially_copyable_v<T>;

/// `count` zeroed elements of T that all ranks share, at the same address in every rank, accessed by plain loads and
/// stores. On one host all ranks use the same memory; between hosts each rank has copies of the pages that it uses, and
/// Job::shared_barrier() makes the writes of all ranks visible to all, and a SharedLock those of one to the next
/// (kumiki_shared_allocate states the rules).
///
/// Construction and destruction are collective. While an exception propagates, the destructor does nothing and the
/// array lives until the end of the job, because ranks without an exception would not join in the release.
template <Shareable T>
class SharedArray : public detail::Elements<T, kumiki_shared_release> {
public:
    /// `page` is the unit in which elements travel between ranks, in bytes: a power of two from the system's page to
    /// 65536; 0: the system's page.
    SharedArray(kumiki_job* job, std::size_t count, Homes homes = Homes::first, std::size_t page = 0)
        : detail::Elements<T, kumiki_shared_release>(
              job, count, "shared array", [job, homes, page](std::size_t bytes, void** memory) {
                  return kumiki_shared_allocate(job, bytes, page, static_cast<kumiki_homes>(homes), memory);
              }) {}

    /// Collective: after a barrier, the next rank that touches a page becomes its home (kumiki_home_first).
    void open_homes() { detail::check(kumiki_home_first(this->job(), this->data(), 0)); }
    /// The rank that is the home of the page where element `index` begins; KUMIKI_HOME_OPEN: none yet.
    template <std::integral Index>
    int home(Index index) const {
        int rank = 0;
        detail::check(kumiki_shared_home(this->job(), this->data() + static_cast<std::size_t>(index), &rank));
        return rank;
    }
    /// What keeping the copies consistent has cost this rank so far.
    kumiki_shared_counters counters() const {
        kumiki_shared_counters counted{};
        detail::check(kumiki_shared_count(this->job(), this->data(), &counted));
        return counted;
    }
};

/// A lock of all threads of all ranks, which is known by its number (kumiki_shared_lock). A thread that has it sees
/// what was written to shared arrays before it was last released. For std::lock_guard, std::unique_lock and
/// std::scoped_lock. Any number of objects, in any ranks, may stand for the same lock.
class SharedLock {
public:
    SharedLock(kumiki_job* job, int number) noexcept : job_(job), number_(number) {}

    void lock() { detail::check(kumiki_shared_lock(job_, number_)); }
    bool try_lock() {
        int taken = 0;
        detail::check(kumiki_shared_trylock(job_, number_, &taken));
        return taken != 0;
    }
    void unlock() { detail::check(kumiki_shared_unlock(job_, number_)); }
    int number() const noexcept { return number_; }

private:
    kumiki_job* job_;
    int number_;
};

} // namespace kumiki
