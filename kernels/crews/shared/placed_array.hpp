#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// How many pages have another home than the rank that works on them. Pages that nobody has touched do not count.
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
        virtual void open_homes() = 0;
        int runs = 0;

    private:
        SharedPages& pages_;
    };

    /// `homes`: as in FormChoice. `page` in bytes; 0: the system's page.
    SharedPages(Job& job, std::string homes, std::size_t page) : job_(job), homes_(std::move(homes)), page_(page) {}

    template <class T>
    SharedArray<T> make(std::size_t count) {
        return SharedArray<T>(job_.handle(), count, homes_of(homes_), page_);
    }
    std::size_t page_bytes() const { return page_ == 0 ? system_page : page_; }
    const std::string& homes() const { return homes_; }
    /// Collective: with the homes `next`, those of each array become open after its first run, which initializes it.
    void begin_run() {
        for (Listed* const array : arrays_)
            if (++array->runs == 2 && homes_ == "next") array->open_homes();
    }
    /// Over all arrays that exist.
    HomeCount home_count() const {
        HomeCount count;
        for (const Listed* const array : arrays_) array->count_homes(count);
        return count;
    }

private:
    static constexpr std::size_t system_page = 4096;

    static Homes homes_of(const std::string& name) {
        if (name == "cyclic") return Homes::cyclic;
        if (name == "first") return Homes::first;
        if (name == "relocated") return Homes::relocated;
        if (name == "managed") return Homes::managed;
        return Homes::block; // also where the next touch counts
    }

    Job& job_;
    std::string homes_;
    std::size_t page_;
    std::vector<Listed*> arrays_;
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
        for (std::size_t byte = 0; byte < array_.size() * sizeof(T); byte += page_bytes_) {
            const std::size_t index = byte / sizeof(T);
            const int home = array_.home(index);
            if (home == KUMIKI_HOME_OPEN) continue;
            ++count.pages;
            if (home != worked_on_by_(index)) ++count.different;
        }
    }
    void open_homes() override { array_.open_homes(); }

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
