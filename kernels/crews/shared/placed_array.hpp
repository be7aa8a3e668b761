#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// How many pages have another home than the rank that works on them.
struct HomeCount {
    std::size_t pages = 0, different = 0;
    double percent_different() const {
        return pages == 0 ? 0 : 100.0 * static_cast<double>(different) / static_cast<double>(pages);
    }
};

/// How the shared arrays of a job are made, and which of them there are.
class SharedPages {
public:
    /// The part of an array that its list knows.
    class Listed {
    public:
        explicit Listed(SharedPages& pages) : pages_(pages) { pages_.arrays_.push_back(this); }
        Listed(const Listed&) = delete;
        Listed& operator=(const Listed&) = delete;
        virtual ~Listed() { std::erase(pages_.arrays_, this); }
        virtual void count_homes(HomeCount& count) const = 0;

    private:
        SharedPages& pages_;
    };

    /// `page` in bytes; 0: the system's page.
    SharedPages(Job& job, Homes homes, std::size_t page) : job_(job), homes_(homes), page_(page) {}

    template <class T>
    SharedArray<T> make(std::size_t count) {
        return SharedArray<T>(job_.handle(), count, homes_, page_);
    }
    std::size_t page_bytes() const { return page_ == 0 ? system_page : page_; }
    Homes homes() const { return homes_; }
    /// Over all arrays that exist.
    HomeCount home_count() const {
        HomeCount count;
        for (const Listed* const array : arrays_) array->count_homes(count);
        return count;
    }

private:
    static constexpr std::size_t system_page = 4096;

    Job& job_;
    Homes homes_;
    std::size_t page_;
    std::vector<const Listed*> arrays_;
};

/// A shared array of which it is known which rank works on which elements.
template <class T>
class PlacedArray : private SharedPages::Listed {
public:
    /// Collective. `worked_on_by(index)` is the rank that should be the home of that element.
    PlacedArray(SharedPages& pages, std::size_t count, std::function<int(std::size_t)> worked_on_by)
        : Listed(pages),
          page_bytes_(pages.page_bytes()),
          worked_on_by_(std::move(worked_on_by)),
          array_(pages.make<T>(count)) {}

    T* data() { return array_.data(); }
    std::span<T> span() { return array_.span(); }

private:
    void count_homes(HomeCount& count) const override {
        for (std::size_t byte = 0; byte < array_.size() * sizeof(T); byte += page_bytes_, ++count.pages)
            if (const std::size_t index = byte / sizeof(T); array_.home(index) != worked_on_by_(index))
                ++count.different;
    }

    std::size_t page_bytes_;
    std::function<int(std::size_t)> worked_on_by_;
    SharedArray<T> array_;
};

/// A shared array with a part for each worker. Each part begins with a page, so that no page belongs to two workers,
/// and with homes in blocks every rank is the home of the parts of its threads.
template <class T>
class WorkerParts {
public:
    /// Collective. Each part has at least `count` elements.
    WorkerParts(SharedPages& pages, int workers, int threads, std::size_t count)
        : stride_(whole_pages(pages.page_bytes(), count)),
          array_(pages, static_cast<std::size_t>(workers) * stride_, [stride = stride_, threads](std::size_t index) {
              return static_cast<int>(index / stride) / threads;
          }) {}

    /// The elements of a part.
    std::size_t length() const { return stride_; }
    std::span<T> of(int worker) { return array_.span().subspan(static_cast<std::size_t>(worker) * stride_, stride_); }

private:
    static std::size_t whole_pages(std::size_t page_bytes, std::size_t count) {
        static_assert(4096 % sizeof(T) == 0, "elements do not cross pages");
        const std::size_t in_page = page_bytes / sizeof(T);
        return std::max<std::size_t>((count + in_page - 1) / in_page, 1) * in_page;
    }

    std::size_t stride_;
    PlacedArray<T> array_;
};

} // namespace kumiki::kernels
