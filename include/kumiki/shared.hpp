#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "kumiki/elements.hpp"
#include "kumiki/indexes.hpp"

namespace kumiki {

/// How the pages of a shared array get their homes (kumiki_homes).
enum class Homes {
    block = KUMIKI_HOMES_BLOCK,
    cyclic = KUMIKI_HOMES_CYCLIC,
    first = KUMIKI_HOMES_FIRST,
    relocated = KUMIKI_HOMES_RELOCATED,
    managed = KUMIKI_HOMES_MANAGED
};

/// What Job::shared_barrier() does with copies of pages that other ranks have written (kumiki_protocol).
enum class Protocol {
    standard = KUMIKI_PROTOCOL_DEFAULT,
    invalidate = KUMIKI_PROTOCOL_INVALIDATE,
    update = KUMIKI_PROTOCOL_UPDATE
};

/// A dimension of a shared array: how many indexes it has, and whether they are dealt to the ranks (kumiki_dimension).
/// A number alone is a dimension that stays whole.
struct Dimension : kumiki_dimension {
    template <std::integral Count>
    constexpr Dimension(Count count) : Dimension(static_cast<std::size_t>(count), KUMIKI_DEAL_WHOLE, 0) {}
    static constexpr Dimension whole(std::size_t count) { return {count, KUMIKI_DEAL_WHOLE, 0}; }
    /// A part for each rank.
    static constexpr Dimension block(std::size_t count) { return {count, KUMIKI_DEAL_BLOCK, 0}; }
    /// Parts of `each` indexes, to one rank after another.
    static constexpr Dimension cyclic(std::size_t count, std::size_t each = 1) {
        return {count, KUMIKI_DEAL_CYCLIC, each};
    }

private:
    constexpr Dimension(std::size_t count, kumiki_deal dealt, std::size_t each)
        : kumiki_dimension{count, dealt, each} {}
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
    SharedArray(kumiki_job* job, std::size_t count, Homes homes = Homes::first, std::size_t page = 0,
                Protocol protocol = Protocol::standard)
        : SharedArray(job, std::vector<Dimension>{Dimension::whole(count)}, homes, page, protocol) {}

    /// The same for elements in dimensions, the last one the densest. `homes` applies only if no dimension is dealt
    /// (kumiki_shared_allocate_dimensions).
    SharedArray(kumiki_job* job, const std::vector<Dimension>& dimensions, Homes homes = Homes::first,
                std::size_t page = 0, Protocol protocol = Protocol::standard)
        : detail::Elements<T, kumiki_shared_release>(
              job, product(dimensions), "shared array",
              [&](std::size_t, void** memory) {
                  const std::vector<kumiki_dimension> plain(dimensions.begin(), dimensions.end());
                  return kumiki_shared_allocate_dimensions(job, sizeof(T), plain.data(), static_cast<int>(plain.size()),
                                                           page, static_cast<kumiki_homes>(homes), memory);
              }),
          row_(dimensions.empty() || dimensions.front().extent == 0 ? 0 : this->size() / dimensions.front().extent) {
        if (protocol != Protocol::standard) set_protocol(protocol);
    }

    /// The first of the elements that have this index in the first dimension.
    template <std::integral Index>
    T* row(Index index) noexcept {
        return this->data() + static_cast<std::size_t>(index) * row_;
    }
    template <std::integral Index>
    const T* row(Index index) const noexcept {
        return this->data() + static_cast<std::size_t>(index) * row_;
    }
    /// The indexes of a dimension that are this rank's, because their elements have their home here
    /// (kumiki_shared_own): what this rank does with them costs the least. Threads take a part each.
    Indexes own(int dimension = 0) const {
        std::vector<Indexes::Run> runs;
        for (Indexes::Run run{0, 0};; runs.push_back(run)) {
            detail::check(kumiki_shared_own(this->job(), this->data(), dimension, run.end, &run.begin, &run.end));
            if (run.begin >= run.end) return Indexes(std::move(runs));
        }
    }

    /// Collective: a barrier, from which on the array is kept consistent by this protocol (kumiki_shared_set_protocol).
    void set_protocol(Protocol protocol) {
        detail::check(kumiki_shared_set_protocol(this->job(), this->data(), static_cast<kumiki_protocol>(protocol)));
    }

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

private:
    static std::size_t product(const std::vector<Dimension>& dimensions) {
        std::size_t all = 1;
        for (const Dimension& each : dimensions)
            if (__builtin_mul_overflow(all, each.extent, &all))
                throw Error(KUMIKI_ERROR_ARGUMENT, "the dimensions of a shared array do not fit the address space");
        return all;
    }

    std::size_t row_; ///< elements from one index of the first dimension to the next
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
