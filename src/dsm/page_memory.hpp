#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dsm/holders.hpp"
#include "dsm/lent_pages.hpp"
#include "dsm/page_layout.hpp"
#include "dsm/page_record.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "platform/memory.hpp"
#include "platform/page_faults.hpp"
#include "platform/zeroed_array.hpp"

namespace kumiki::dsm {

/// The memory of one shared array at one rank: the frames and twins of its pages, which of them fault, a record and a
/// lock for each, and the marks by which ranks of a host tell each other what they have fetched. What is done with
/// these, and when, is the protocol's (Pages).
class PageMemory {
public:
    using Layout = PageLayout;
    using State = PageState;
    using Page = PageRecord;

    /// Where the array is at this rank.
    struct Place {
        std::byte* data;   ///< the addresses that the program uses
        std::byte* region; ///< the same memory at addresses where accesses do not fault
        std::byte* twins;  ///< memory as long as the frames, which the array then owns; null: those of the layout
    };

protected:
    PageMemory(fabric::Fabric& fabric, Place place, Layout layout, std::unique_ptr<platform::PageFaults> faults);
    ~PageMemory();
    PageMemory(const PageMemory&) = delete;
    PageMemory& operator=(const PageMemory&) = delete;

    std::span<std::byte> frame(std::size_t page) const { return frame_of(region_, page); }
    std::span<std::byte> twin(std::size_t page) const { return frame_of(twins_, page); }
    std::span<std::byte> frame_of(std::byte* begin, std::size_t page) const {
        return {begin + page * layout_.page_bytes, layout_.page_bytes};
    }
    /// This array's region at a rank of this host; null if the rank is on another host.
    std::byte* region_at(int rank) const;
    /// Calls each(begin, end) for the runs of pages whose frames are not holes in the memory's file.
    template <class Each>
    void find_data(Each each) const {
        const fabric::HostMemory& memory = fabric_.memory();
        const std::size_t begin = memory.file_offset(region_);
        platform::find_data(memory.descriptor(), begin, layout_.frames(), [&](std::size_t from, std::size_t to) {
            each((from - begin) / layout_.page_bytes, (to - begin + layout_.page_bytes - 1) / layout_.page_bytes);
        });
    }
    /// Gives the memory of a page back to the system. Nobody has access to the page.
    void give_back(std::size_t page);

    /// A thread that waits for a page's lock makes progress on the network only.
    void lock(Page& page);
    void unlock(Page& page);
    /// From now on an access that `to` does not allow faults. If that cannot be done the rank ends, because an access
    /// cannot return an error either.
    void change(std::size_t first, std::size_t count, platform::PageAccess from, platform::PageAccess to);
    /// For every run of pages that are `wanted`: locks them, changes them, and calls done(page) for each before it is
    /// unlocked.
    template <class Wanted, class Done>
    void change_runs(std::size_t first, std::size_t end, platform::PageAccess from, platform::PageAccess to,
                     Wanted wanted, Done done) {
        change_runs(first, end, from, to, wanted, done, [] {});
    }
    /// The same; calls settle() for each run before it is unlocked.
    template <class Wanted, class Done, class Settle>
    void change_runs(std::size_t first, std::size_t end, platform::PageAccess from, platform::PageAccess to,
                     Wanted wanted, Done done, Settle settle);
    [[noreturn]] void give_up(const Failure& failure) const;

    // -- at the home, whose region may be that of another rank of this host --

    /// In a page's byte of `fetched`: that it was, and that it has been lent without a place in `lent`.
    static constexpr std::uint8_t mark = 1, without_place = 2;

    std::atomic_ref<std::uint8_t> fetched(std::byte* region, std::size_t page) const {
        return std::atomic_ref(reinterpret_cast<std::uint8_t&>(region[layout_.fetched() + page]));
    }
    void mark_fetched(std::byte* region, std::size_t first, std::size_t count) const;
    Holders holders(std::byte* region) const { return {region, layout_}; }
    LentPages& lent(std::byte* region) const { return reinterpret_cast<LentPages&>(region[layout_.lent()]); }

    fabric::Fabric& fabric_;
    std::byte *data_, *region_, *twins_;
    Layout layout_;
    std::unique_ptr<platform::PageFaults> faults_;
    platform::ZeroedArray<Page> pages_;
};

template <class Wanted, class Done, class Settle>
void PageMemory::change_runs(std::size_t first, std::size_t end, platform::PageAccess from, platform::PageAccess to,
                             Wanted wanted, Done done, Settle settle) {
    const auto claim = [&](std::size_t page) {
        lock(pages_[page]);
        if (wanted(page)) return true;
        unlock(pages_[page]);
        return false;
    };
    for (std::size_t page = first; page < end; ++page) {
        if (!claim(page)) continue;
        const std::size_t begin = page++;
        while (page < end && claim(page)) ++page;
        change(begin, page - begin, from, to);
        for (std::size_t each = begin; each < page; ++each) done(each);
        settle();
        for (std::size_t each = begin; each < page; ++each) unlock(pages_[each]);
    }
}

} // namespace kumiki::dsm
