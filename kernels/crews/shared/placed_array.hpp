#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// `count` elements and as many more as fill whole pages.
template <class T>
std::size_t in_whole_pages(std::size_t bytes_of_page, std::size_t count) {
    static_assert(4096 % sizeof(T) == 0, "elements do not cross pages");
    const std::size_t in_page = bytes_of_page / sizeof(T);
    return std::max<std::size_t>((count + in_page - 1) / in_page, 1) * in_page;
}

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

    /// `homes` and `protocol`: as in FormChoice. `page` in bytes; 0: the system's page.
    SharedPages(Job& job, std::string homes, std::string protocol, std::size_t page)
        : job_(job), homes_(std::move(homes)), protocol_(std::move(protocol)), page_(page) {}

    /// `rows` rows of `columns` elements, of which the homes `rows` deal one run to each rank.
    template <class T>
    SharedArray<T> make(std::size_t rows, std::size_t columns) {
        const Dimension first = homes_ == "rows" ? Dimension::block(rows) : Dimension::whole(rows);
        return SharedArray<T>(job_.handle(), std::vector<Dimension>{first, columns}, homes_of(homes_), page_,
                              protocol_ == "update" ? Protocol::update : Protocol::invalidate);
    }
    Job& job() const { return job_; }
    std::size_t page_bytes() const { return page_ == 0 ? system_page : page_; }
    const std::string& homes() const { return homes_; }
    const std::string& protocol() const { return protocol_; }
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
        if (name == "first" || name == "hand") return Homes::first;
        if (name == "relocated") return Homes::relocated;
        if (name == "managed") return Homes::managed;
        return Homes::block; // also where the next touch counts, or the rows
    }

    Job& job_;
    std::string homes_, protocol_;
    std::size_t page_;
    std::vector<Listed*> arrays_;
};

/// A shared array of which it is known which rank works on which elements.
template <class T>
class PlacedArray : private SharedPages::Listed {
public:
    /// Collective. `worked_on_by(index)` is the rank that should be the home of that element. If elements belong
    /// together in `rows`, `count` is a multiple of their number.
    PlacedArray(SharedPages& pages, std::size_t count, std::function<int(std::size_t)> worked_on_by,
                std::optional<std::size_t> rows = {})
        : Listed(pages),
          page_bytes_(pages.page_bytes()),
          worked_on_by_(std::move(worked_on_by)),
          array_(pages.make<T>(rows.value_or(count), count / rows.value_or(count))) {
        if (pages.homes() == "hand") place(pages.job());
    }

    T* data() { return array_.data(); }
    std::span<T> span() { return array_.span(); }

private:
    /// Calls visit(index) for the first element of each page.
    template <class Visit>
    void for_pages(Visit visit) const {
        for (std::size_t byte = 0; byte < array_.size() * sizeof(T); byte += page_bytes_) visit(byte / sizeof(T));
    }
    /// Places every page by hand: before the program begins, the rank that will work on a page touches it, and no other
    /// one does.
    void place(Job& job) const {
        for_pages([&](std::size_t index) {
            if (worked_on_by_(index) == job.rank()) static_cast<void>(*const_cast<const volatile T*>(&array_[index]));
        });
        job.shared_barrier();
    }
    void count_homes(HomeCount& count) const override {
        for_pages([&](std::size_t index) {
            const int home = array_.home(index);
            if (home == KUMIKI_HOME_OPEN) return;
            ++count.pages;
            if (home != worked_on_by_(index)) ++count.different;
        });
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
        : stride_(in_whole_pages<T>(pages.page_bytes(), count)),
          array_(
              pages, static_cast<std::size_t>(workers) * stride_,
              [stride = stride_, threads](std::size_t index) { return static_cast<int>(index / stride) / threads; },
              static_cast<std::size_t>(workers)) {}

    /// The elements of a part.
    std::size_t length() const { return stride_; }
    std::span<T> of(int worker) { return array_.span().subspan(static_cast<std::size_t>(worker) * stride_, stride_); }

private:
    std::size_t stride_;
    PlacedArray<T> array_;
};

} // namespace kumiki::kernels
