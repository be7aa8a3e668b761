#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "kumiki/error.hpp"

namespace kumiki {

/// Which rank is the home of which page of a shared array (kumiki_homes).
enum class Homes { block = KUMIKI_HOMES_BLOCK, cyclic = KUMIKI_HOMES_CYCLIC };

/// A type whose values can be stored in a shared array. Pointers are among them: those into shared arrays mean the same
/// in every rank.
template <class T>
concept Shareable = std::is_trivially_copyable_v<T>;

/// `count` zeroed elements of T that all ranks share, at the same address in every rank, accessed by plain loads and
/// stores. On one host all ranks use the same memory; between hosts each rank has copies of the pages that it uses, and
/// Job::shared_barrier() makes the writes of all ranks visible to all (kumiki_shared_allocate states the rules).
///
/// Construction and destruction are collective. While an exception propagates, the destructor does nothing and the
/// array lives until the end of the job, because ranks without an exception would not join in the release.
template <Shareable T>
class SharedArray {
public:
    /// `page` is the unit in which elements travel between ranks, in bytes: a power of two from the system's page to
    /// 65536; 0: the system's page.
    SharedArray(kumiki_job* job, std::size_t count, Homes homes = Homes::block, std::size_t page = 0)
        : job_(job), count_(count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw Error(KUMIKI_ERROR_ARGUMENT,
                        "a shared array of " + std::to_string(count) + " elements does not fit the address space");
        void* memory = nullptr;
        detail::check(kumiki_shared_allocate(job, count * sizeof(T), page, static_cast<kumiki_homes>(homes), &memory));
        data_ = static_cast<T*>(memory);
    }
    SharedArray(SharedArray&& other) noexcept
        : job_(other.job_), data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    SharedArray& operator=(SharedArray&& other) noexcept {
        std::swap(job_, other.job_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~SharedArray() {
        if (data_ != nullptr && std::uncaught_exceptions() <= exceptions_at_start_) kumiki_shared_release(job_, data_);
    }

    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return count_; }
    std::span<T> span() noexcept { return {data_, count_}; }
    std::span<const T> span() const noexcept { return {data_, count_}; }
    template <std::integral Index>
    T& operator[](Index index) noexcept {
        return data_[static_cast<std::size_t>(index)];
    }
    template <std::integral Index>
    const T& operator[](Index index) const noexcept {
        return data_[static_cast<std::size_t>(index)];
    }
    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + count_; }
    const T* begin() const noexcept { return data_; }
    const T* end() const noexcept { return data_ + count_; }

    /// The rank that is the home of the page where element `index` begins.
    template <std::integral Index>
    int home(Index index) const {
        int rank = 0;
        detail::check(kumiki_shared_home(job_, data_ + static_cast<std::size_t>(index), &rank));
        return rank;
    }
    /// What keeping the copies consistent has cost this rank so far.
    kumiki_shared_counters counters() const {
        kumiki_shared_counters counted{};
        detail::check(kumiki_shared_count(job_, data_, &counted));
        return counted;
    }

private:
    kumiki_job* job_;
    T* data_ = nullptr;
    std::size_t count_;
    int exceptions_at_start_ = std::uncaught_exceptions();
};

} // namespace kumiki
