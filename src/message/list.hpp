#pragma once

#include <deque>

namespace kumiki::message {

/// A list in the order of arrival whose elements carry the links, so that it never allocates: T has `next` and
/// `previous`, and is in one list at a time.
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

/// Elements that are used again: memory is taken only when more are in use than ever before.
template <class T>
class Pool {
public:
    T& take() {
        if (free_ == nullptr) return elements_.emplace_back();
        T& element = *free_;
        free_ = element.next;
        return element;
    }
    void give_back(T& element) {
        element.next = free_;
        free_ = &element;
    }

private:
    std::deque<T> elements_;
    T* free_ = nullptr;
};

} // namespace kumiki::message
