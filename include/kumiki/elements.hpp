#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "kumiki/error.hpp"

namespace kumiki::detail {

/// `count` elements of T in memory that all ranks make and release together: what a Region and a SharedArray have in
/// common. While an exception propagates, the destructor does nothing and the memory lives until the end of the job,
/// because ranks without an exception would not join in the release.
template <class T, kumiki_status (*release)(kumiki_job*, void*)>
class Elements {
public:
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

protected:
    /// `what` names the memory in an error message; allocate(bytes, &memory) is the call that makes it.
    template <class Allocate>
    Elements(kumiki_job* job, std::size_t count, const char* what, Allocate allocate) : job_(job), count_(count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw Error(KUMIKI_ERROR_ARGUMENT, std::string("a ") + what + " of " + std::to_string(count) +
                                                   " elements does not fit the address space");
        void* memory = nullptr;
        check(allocate(count * sizeof(T), &memory));
        data_ = static_cast<T*>(memory);
    }
    Elements(Elements&& other) noexcept
        : job_(other.job_), data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    Elements& operator=(Elements&& other) noexcept {
        std::swap(job_, other.job_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~Elements() {
        if (data_ != nullptr && std::uncaught_exceptions() <= exceptions_at_start_) release(job_, data_);
    }

    kumiki_job* job() const noexcept { return job_; }

private:
    kumiki_job* job_;
    T* data_ = nullptr;
    std::size_t count_;
    int exceptions_at_start_ = std::uncaught_exceptions();
};

} // namespace kumiki::detail
