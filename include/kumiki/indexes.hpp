#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace kumiki {

/// Indexes of a dimension of a shared array, in order (SharedArray::own): a range of indexes for loops.
///
///     for (const std::size_t i : field.own()) relax(field.row(i));
class Indexes {
public:
    /// The indexes begin .. end - 1.
    struct Run {
        std::size_t begin, end;
        std::size_t size() const noexcept { return end - begin; }
    };

    /// `runs`: in order, none of them empty.
    explicit Indexes(std::vector<Run> runs) : runs_(std::move(runs)) {}

    /// The same indexes as runs: for loops whose inside is short.
    std::span<const Run> runs() const& noexcept { return runs_; }
    std::vector<Run> runs() && noexcept { return std::move(runs_); }
    std::size_t size() const noexcept {
        std::size_t all = 0;
        for (const Run& run : runs_) all += run.size();
        return all;
    }

    /// Part `index` of `parts`, such as that of a thread: the sizes of parts differ by at most one.
    Indexes part(int parts, int index) const {
        const std::size_t all = size(), count = static_cast<std::size_t>(parts),
                          number = static_cast<std::size_t>(index);
        const auto border = [&](std::size_t part) { return all / count * part + std::min(part, all % count); };
        return between(border(number), border(number + 1));
    }
    /// Those that are in `range`, too.
    Indexes within(Run range) const {
        std::vector<Run> cut;
        for (const Run& run : runs_)
            if (const Run both{std::max(run.begin, range.begin), std::min(run.end, range.end)}; both.begin < both.end)
                cut.push_back(both);
        return Indexes(std::move(cut));
    }

    class Iterator {
    public:
        using difference_type = std::ptrdiff_t;
        using value_type = std::size_t;

        Iterator() = default;
        Iterator(const Run* run, const Run* end) : run_(run), end_(end), index_(run == end ? 0 : run->begin) {}
        std::size_t operator*() const noexcept { return index_; }
        Iterator& operator++() noexcept {
            if (++index_ == run_->end) index_ = ++run_ == end_ ? 0 : run_->begin;
            return *this;
        }
        Iterator operator++(int) noexcept {
            const Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator&) const noexcept = default;

    private:
        const Run *run_ = nullptr, *end_ = nullptr;
        std::size_t index_ = 0;
    };
    Iterator begin() const noexcept { return {runs_.data(), runs_.data() + runs_.size()}; }
    Iterator end() const noexcept { return {runs_.data() + runs_.size(), runs_.data() + runs_.size()}; }

private:
    /// The first .. last - 1 of the indexes.
    Indexes between(std::size_t first, std::size_t last) const {
        std::vector<Run> cut;
        std::size_t before = 0;
        for (const Run& run : runs_) {
            const std::size_t from = std::clamp(first, before, before + run.size()) - before;
            const std::size_t to = std::clamp(last, before, before + run.size()) - before;
            if (from < to) cut.push_back({run.begin + from, run.begin + to});
            before += run.size();
        }
        return Indexes(std::move(cut));
    }

    std::vector<Run> runs_;
};

} // namespace kumiki
