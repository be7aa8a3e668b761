#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dsm/packed_pages.hpp"
#include "dsm/place_order.hpp"
#include "dsm/update_box.hpp"

namespace kumiki::dsm {

/// Pages of an array that this rank has requested ahead of a barrier, because the interval that it expects to begin
/// there had to fetch them the last time. One thread at a time uses it, but for the box.
class EarlyFetches {
public:
    explicit EarlyFetches(std::size_t most_bytes) : box_(most_bytes) {}

    /// What an interval that has begun so had to fetch.
    void note(Visit visit, std::vector<PageRun> fetched) {
        note(visit.way, fetched);
        note(visit.place, std::move(fetched));
    }
    /// What the last interval had to fetch to which the same way has led, or that began at the same place; null:
    /// unknown.
    const std::vector<PageRun>* needed(Visit visit) const {
        for (const std::uint64_t key : {visit.way, visit.place})
            if (const auto found = needed_.find(key); found != needed_.end()) return &found->second;
        return nullptr;
    }

    /// Nothing that was requested earlier counts any more.
    void begin(std::uint64_t barrier) {
        barrier_.store(barrier, std::memory_order_relaxed);
        coming_.clear();
        box_.take();
    }
    /// These pages have been requested.
    void add(const PageRun& run) {
        for (std::size_t page = run.first; page < run.first + run.count; ++page) coming_.insert(page);
    }
    bool comes(std::size_t page) const { return coming_.contains(page); }
    /// What comes may be too old for what this rank has learned meanwhile.
    void forget() { coming_.clear(); }

    /// Of the last requests; any thread may ask.
    std::uint64_t barrier() const { return barrier_.load(std::memory_order_relaxed); }
    UpdateBox& box() { return box_; }

private:
    static constexpr std::size_t most = 8192;

    void note(std::uint64_t key, std::vector<PageRun> fetched) {
        const auto found = needed_.find(key);
        if (found != needed_.end()) found->second = std::move(fetched);
        else if (!fetched.empty()) {
            if (needed_.size() >= most) needed_.clear();
            needed_.emplace(key, std::move(fetched));
        }
    }

    std::unordered_map<std::uint64_t, std::vector<PageRun>> needed_; ///< by places and by ways
    std::atomic<std::uint64_t> barrier_{0};
    std::unordered_set<std::size_t> coming_;
    UpdateBox box_; ///< the answers
};

} // namespace kumiki::dsm
