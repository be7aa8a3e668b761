#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "kumiki/error.hpp"
#include "kumiki/type.hpp"

namespace kumiki {

/// `count` zeroed elements of T at every rank. Construction and destruction are collective. While an exception
/// propagates, the destructor does nothing and the region lives until the end of the job, because ranks without an
/// exception would not join in the release.
///
/// An address inside this rank's copy of the region names the same place at every rank (COMPaS paper, 3.1: "the user
/// names a remote address in the same way as a local one").
template <Transferable T>
class Region {
public:
    Region(kumiki_job* job, std::size_t count) : job_(job), count_(count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw Error(KUMIKI_ERROR_ARGUMENT,
                        "a region of " + std::to_string(count) + " elements does not fit the address space");
        void* memory = nullptr;
        detail::check(kumiki_allocate(job, count * sizeof(T), &memory));
        data_ = static_cast<T*>(memory);
    }
    Region(Region&& other) noexcept
        : job_(other.job_), data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    Region& operator=(Region&& other) noexcept {
        std::swap(job_, other.job_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~Region() {
        if (data_ != nullptr && std::uncaught_exceptions() <= exceptions_at_start_) kumiki_release(job_, data_);
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

    /// Returns rank `rank`'s copy of this region for direct loads and stores, or an empty span when that rank is on
    /// another host.
    std::span<T> at(int rank) const {
        void* there = nullptr;
        detail::check(kumiki_peer(job_, rank, data_, &there));
        return there == nullptr ? std::span<T>{} : std::span<T>{static_cast<T*>(there), count_};
    }

private:
    kumiki_job* job_;
    T* data_ = nullptr;
    std::size_t count_;
    int exceptions_at_start_ = std::uncaught_exceptions();
};

} // namespace kumiki
