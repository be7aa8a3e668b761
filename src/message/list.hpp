#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <vector>

namespace kumiki::message {

/// An intrusive list in the order of arrival. The elements carry the links `next` and `previous`, so it never
/// allocates; an element is in one list at a time.
template <class T>
class List {
public:
    T* front() const { return first_; }
    bool empty() const { return first_ == nullptr; }
    void push_back(T& element) {
        element.next = nullptr;
        element.previous = last_;
        (last_ == nullptr ? first_ : last_->next) = &element;
        last_ = &element;
    }
    void remove(T& element) {
        (element.previous == nullptr ? first_ : element.previous->next) = element.next;
        (element.next == nullptr ? last_ : element.next->previous) = element.previous;
    }

private:
    T *first_ = nullptr, *last_ = nullptr;
};

/// A pool of reusable elements, which allocates only when more are in use than ever before, and more than a few. The
/// user of an element returns it by setting its `free`, without the lock under which elements are taken; returned
/// elements are collected when no ready one is left.
template <class T>
class Pool {
public:
    Pool() { collect(); } // so that the first use, which may come late, allocates nothing
    T& take() {
        if (ready_.empty()) collect();
        T& element = *ready_.back();
        ready_.pop_back();
        element.free.store(false, std::memory_order_relaxed);
        return element;
    }
    static void give_back(T& element) { element.free.store(true, std::memory_order_release); }

private:
    /// Leaves at least a third of the elements ready, so that it is called rarely.
    void collect() {
        for (T& each : elements_)
            if (each.free.load(std::memory_order_acquire)) ready_.push_back(&each);
        const std::size_t enough = std::max<std::size_t>(elements_.size() / 2, 16);
        while (ready_.size() < enough) ready_.push_back(&elements_.emplace_back());
    }
    std::deque<T> elements_;
    std::vector<T*> ready_;
};

} // namespace kumiki::message
