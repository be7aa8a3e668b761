#include "dsm/shared_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dsm/notice_exchange.hpp"
#include "platform/held_locks.hpp"
#include "platform/memory.hpp"
#include "platform/system_call_trap.hpp"

namespace kumiki::dsm {

using collective::Collectives;
using platform::SecondMapping;

SharedMemory::SharedMemory(fabric::Fabric& fabric, Collectives& collectives, Options options)
    : fabric_(fabric),
      collectives_(collectives),
      options_(options),
      copies_(fabric.size() > 1 && (fabric.network() != nullptr || options.copies == CopyHolder::rank)) {
    if (fabric.network() != nullptr) courier_ = std::make_unique<Courier>(fabric, numbered_);
    if (copies_) consistency_ = std::make_unique<Consistency>(fabric, numbered_, courier_.get());
}

/// All ranks are leaving the job, so no rank fetches pages any more.
SharedMemory::~SharedMemory() {
    adopted_.clear();
    range_.reset();
    courier_.reset();
}

const char* SharedMemory::mechanism() const {
    if (!copies_) return "none";
    return uses_userfaultfd_ ? "userfaultfd" : "protection";
}

// -- allocation --

/// Regions have the same offset at every rank, so addresses derived from it are the same, and free, at all ranks.
/// Without copies an array may be as long as the regions of all ranks together.
std::byte* SharedMemory::address_of(const std::byte* region) const {
    const std::size_t spread = copies_ ? 1 : static_cast<std::size_t>(fabric_.size());
    return options_.base + fabric_.memory().offset(region) * spread;
}

Result<> SharedMemory::choose_mechanism() {
    if (!copies_ || options_.faults == FaultMechanism::protection) return {};
    const auto works = platform::userfaultfd_works();
    uses_userfaultfd_ = works.has_value();
    if (works || options_.faults != FaultMechanism::userfaultfd) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("KUMIKI_SHARED_FAULTS=userfaultfd: {}; KUMIKI_SHARED_FAULTS=auto does without",
                            works.error().message));
}

/// Everything that the first array needs. Without copies the range is only for the sentence about an access outside.
Result<> SharedMemory::prepare() {
    if (range_) return {};
    if (auto chosen = choose_mechanism(); !chosen) return chosen;
    const std::size_t spread = copies_ ? 1 : static_cast<std::size_t>(fabric_.size()); // as in address_of()
    const std::size_t bytes = fabric_.memory().header().arena_bytes * spread;
    auto range = platform::FaultRange::claim(options_.base, bytes, *this,
                                             copies_ ? platform::FaultRange::Purpose::repair
                                                     : platform::FaultRange::Purpose::report);
    if (!range) return tl::unexpected(range.error());
    range_ = std::move(*range);
    // Where that is forbidden, system calls fail for pages that are not here, and `kumiki doctor` says why.
    if (copies_ && options_.system_calls) static_cast<void>(platform::trap_system_calls(options_.base, bytes));
    return {};
}

Result<void*> SharedMemory::allocate(std::size_t bytes, std::size_t page, Placement placement) {
    const std::size_t shortest = platform::page_size();
    if (page == 0) page = shortest;
    const auto refuse = [this](std::string message) -> Result<void*> {
        return tl::unexpected(collectives_.refuse(fail(KUMIKI_ERROR_ARGUMENT, std::move(message))).error());
    };
    if (bytes == 0) return refuse("a shared array needs at least one byte");
    if (!std::has_single_bit(page) || page < shortest || page > longest_page)
        return refuse(fmt::format("the pages of a shared array cannot be {} bytes long; the length is a power of two "
                                  "from {} to {}",
                                  page, shortest, longest_page));
    if (bytes > std::size_t{1} << 46)
        return refuse(fmt::format("a shared array of {} bytes does not fit the address space", bytes));
    return add(bytes, {page, (bytes + page - 1) / page}, placement, {});
}

Result<void*> SharedMemory::allocate_open(std::size_t bytes, Placement placement) {
    const std::size_t page = platform::page_size();
    return add(bytes, {page, (bytes + page - 1) / page}, placement, {.open = true});
}

Result<> SharedMemory::adopt(std::span<std::byte> memory, Placement placement) {
    const std::size_t page = platform::page_size();
    return add(memory.size(), {page, memory.size() / page}, placement, {.at = memory.data(), .open = true})
        .map([](void*) {});
}

Result<> SharedMemory::fill(std::byte* region, std::span<const std::byte> contents) {
    if (fabric_.rank() == 0) std::memcpy(region, contents.data(), contents.size());
    return collectives_.broadcast(region, contents.size(), 0);
}

Result<void*> SharedMemory::add(std::size_t bytes, const Pages::Layout& layout, Placement placement, Wish wish) {
    if (auto made = make_locks(); !made) return tl::unexpected(made.error());
    auto region = collectives_.allocate(copies_ ? layout.bytes() : piece_of(layout));
    if (!region) return tl::unexpected(region.error());
    auto* const frames = static_cast<std::byte*>(*region);
    if (wish.at != nullptr)
        if (auto filled = fill(frames, {wish.at, bytes}); !filled) return tl::unexpected(filled.error());

    auto made = make(frames, bytes, layout, placement, wish);
    const std::uint64_t detail = layout.page_bytes << 8 | static_cast<std::uint64_t>(placement);
    if (auto agreed = agree(made ? Result<>{} : tl::unexpected(made.error()), detail); !agreed) {
        made = tl::unexpected(agreed.error()); // it is unmapped before its memory is given back
        static_cast<void>(collectives_.release(*region));
        return tl::unexpected(agreed.error());
    }
    void* const data = made->view.data();
    {
        const std::lock_guard lock(mutex_);
        if (made->pages) numbered_.set(made->pages->number(), made->pages.get());
        arrays_.push_back(std::make_unique<Array>(std::move(*made)));
    }
    // No rank may ask for a page before all ranks know the array.
    if (auto met = collectives_.barrier(); !met) return tl::unexpected(met.error());
    return data;
}

/// With the first array, because this is collective, too, and using a lock is not. They live as long as the job.
Result<> SharedMemory::make_locks() {
    if (locks_) return {};
    auto region = collectives_.allocate(sizeof(WrittenWords) + LockArea::bytes(fabric_.size()));
    if (!region) return tl::unexpected(region.error());
    auto* const begin = static_cast<std::byte*>(*region);
    const fabric::Group& all = fabric_.everybody();
    std::byte* const leaders = fabric_.memory().arena(all.leader(all.own_host())) + fabric_.memory().offset(begin);
    written_ = reinterpret_cast<WrittenWords*>(leaders);
    locks_ = std::make_unique<Locks>(fabric_, consistency_.get(), begin + sizeof(WrittenWords));
    if (courier_) courier_->serve(*locks_, *written_);
    return {};
}

Result<Locks*> SharedMemory::locks(const char* operation) {
    if (locks_) return locks_.get();
    return fail(KUMIKI_ERROR_STATE, fmt::format("{}: there are no locks before the first shared array has been made; "
                                                "allocate it first, at all ranks",
                                                operation));
}

std::size_t SharedMemory::piece_of(const Pages::Layout& layout) const {
    const auto ranks = static_cast<std::size_t>(fabric_.size());
    return platform::round_up((layout.frames() + ranks - 1) / ranks, platform::page_size());
}

Result<SharedMemory::Array> SharedMemory::make(std::byte* region, std::size_t bytes, const Pages::Layout& layout,
                                               Placement placement, Wish wish) {
    if (auto prepared = prepare(); !prepared) return tl::unexpected(prepared.error());
    auto view = wish.at != nullptr ? Result<SecondMapping>(SecondMapping::over(wish.at, layout.frames()))
                                   : SecondMapping::reserve(address_of(region), layout.frames());
    if (!view) return tl::unexpected(view.error());
    if (!copies_) {
        if (auto mapped = map_everybodys(region, *view, piece_of(layout)); !mapped)
            return tl::unexpected(mapped.error());
        return Array{region, std::move(*view), placement, layout, nullptr};
    }
    const std::uint32_t number = numbered_.unused();
    if (number == Arrays::most)
        return fail(KUMIKI_ERROR_STATE, fmt::format("there are {} shared arrays already, and there can be no more; "
                                                    "release some, or make fewer and longer ones",
                                                    Arrays::most));
    if (wish.at != nullptr) {
        auto range =
            platform::FaultRange::claim(wish.at, layout.frames(), *this, platform::FaultRange::Purpose::repair);
        if (!range) return tl::unexpected(range.error());
        adopted_.push_back(std::move(*range));
    }
    const fabric::HostMemory& memory = fabric_.memory();
    if (auto mapped = view->map(0, layout.frames(), memory.descriptor(), memory.file_offset(region)); !mapped)
        return tl::unexpected(mapped.error());
    auto faults = watch(*view, region);
    if (!faults) return tl::unexpected(faults.error());
    std::byte* const twins = platform::reserve_zeros(layout.frames());
    if (twins == nullptr)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("there is no address space left for the twins of a shared array of {} bytes; raise the "
                                "limit (ulimit -v unlimited)",
                                bytes));
    auto pages = std::make_unique<Pages>(fabric_, courier_.get(), number, Pages::Place{view->data(), region, twins},
                                         layout, Homes(placement, layout.pages, fabric_.size()), std::move(*faults));
    if (wish.open) pages->keep_open();
    if (auto started = pages->start(); !started) return tl::unexpected(started.error());
    return Array{region, std::move(*view), placement, layout, std::move(pages)};
}

/// Each rank in turn holds a piece of the array, which all ranks map, so its memory is used once.
Result<> SharedMemory::map_everybodys(const std::byte* region, SecondMapping& view, std::size_t piece) const {
    const fabric::HostMemory& memory = fabric_.memory();
    std::size_t offset = 0;
    for (int rank = 0; rank < fabric_.size() && offset < view.size(); ++rank, offset += piece) {
        const std::byte* const there = memory.arena(rank) + memory.offset(region);
        const std::size_t bytes = std::min(piece, view.size() - offset);
        if (auto mapped = view.map(offset, bytes, memory.descriptor(), memory.file_offset(there)); !mapped)
            return mapped;
    }
    return {};
}

Result<std::unique_ptr<platform::PageFaults>> SharedMemory::watch(const SecondMapping& view, std::byte* region) const {
    if (uses_userfaultfd_) return platform::open_userfaultfd(view, region);
    return platform::use_protection(view);
}

/// Whether every rank has done its part, with the same arguments.
Result<> SharedMemory::agree(const Result<>& local, std::uint64_t detail) {
    const std::uint64_t mine[] = {local ? 0U : 1U, detail, ~detail};
    std::uint64_t most[std::size(mine)] = {};
    if (auto reduced =
            collectives_.reduce(mine, most, std::size(mine), KUMIKI_UINT64, KUMIKI_MAX, Collectives::every_rank);
        !reduced)
        return reduced;
    if (!local) return local;
    if (most[0] != 0)
        return fail(KUMIKI_ERROR_MEMORY, "another rank could not make the shared array; its own message says why");
    if (most[1] != ~most[2])
        return fail(KUMIKI_ERROR_ARGUMENT,
                    "the ranks want different lengths of pages, or different homes, for one shared array; all of them "
                    "must give the same");
    return {};
}

SharedMemory::Array* SharedMemory::find(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    for (const auto& array : arrays_)
        if (at >= array->view.data() && at < array->view.data() + array->view.size()) return array.get();
    return nullptr;
}

Result<> SharedMemory::release(void* memory) {
    Array* array = nullptr;
    {
        const std::lock_guard lock(mutex_);
        array = find(memory);
    }
    if (array == nullptr || array->view.data() != memory)
        return collectives_.refuse(
            fail(KUMIKI_ERROR_ARGUMENT, fmt::format("there is no shared array that begins at {}", memory)));
    // Others may still fetch pages of which this rank is the home.
    if (auto met = collectives_.barrier(); !met) return met;
    std::byte* const region = array->region;
    {
        const std::lock_guard lock(mutex_);
        if (array->pages) numbered_.set(array->pages->number(), nullptr);
        std::erase_if(arrays_, [array](const auto& each) { return each.get() == array; });
    }
    return collectives_.release(region);
}

// -- consistency --

Result<> SharedMemory::barrier() {
    if (!copies_) return collectives_.barrier();
    if (written_ == nullptr) return collectives_.barrier(); // there has been no array yet
    const std::vector<Notice> own = consistency_->release_to_all(++barriers_, *written_);
    // Every rank's changes have reached their homes when it enters the barrier.
    if (auto met = collectives_.barrier(); !met) return met;
    if (!written_->is_set(barriers_)) return {};
    const auto told = exchange_notices(fabric_, collectives_, own);
    if (!told) return tl::unexpected(told.error());
    const Pages::Moving moving = consistency_->acquire_from_all(*told);
    if (moving.fetches) {
        consistency_->fetch_moved();
        if (auto met = collectives_.barrier(); !met) return met;
    }
    consistency_->finish_moves();
    return moving.collide ? collectives_.barrier() : Result<>{};
}

Result<> SharedMemory::open_homes(const void* address, std::size_t pages) {
    Array* array = nullptr;
    {
        const std::lock_guard lock(mutex_);
        array = find(address);
    }
    const std::size_t first =
        array == nullptr ? 0
                         : static_cast<std::size_t>(static_cast<const std::byte*>(address) - array->view.data()) /
                               array->layout.page_bytes;
    if (pages == 0 && array != nullptr) pages = array->layout.pages - first;
    if (auto agreed = agree(may_open(array, address, first, pages), first << 32 | pages); !agreed) return agreed;
    if (auto met = barrier(); !met || !copies_) return met;
    array->pages->open_homes(first, pages);
    return collectives_.barrier();
}

Result<> SharedMemory::may_open(const Array* array, const void* address, std::size_t first, std::size_t pages) {
    if (array == nullptr)
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("the address {} is in no shared array", address));
    if (pages == 0 || pages > array->layout.pages - first)
        return fail(
            KUMIKI_ERROR_ARGUMENT,
            fmt::format("the shared array has {} pages from this address on, so {} of them cannot get new homes",
                        array->layout.pages - first, pages));
    if (array->pages && array->pages->keeps_open())
        return fail(KUMIKI_ERROR_ARGUMENT, "the homes of this shared array stay where they are");
    if (array->placement == Placement::managed)
        return fail(KUMIKI_ERROR_ARGUMENT, "the homes of this shared array are given by a manager, once; allocate it "
                                           "with other homes if they are to change");
    return {};
}

/// The list of arrays is not touched here, because the thread that faulted may be one that changes it; and no other
/// thread releases an array while this one uses it.
bool SharedMemory::fault(std::byte* address, platform::Attempt attempt) {
    platform::expect_no_lock("a page of a shared array is touched");
    const bool handled = numbered_.any([address, attempt](Pages& array) {
        if (address < array.data() || address >= array.data() + array.layout().frames()) return false;
        array.fault(static_cast<std::size_t>(address - array.data()) / array.layout().page_bytes, attempt);
        return true;
    });
    if (handled) return true;
    fmt::print(stderr,
               "kumiki: rank {} has accessed {}, which is among the addresses of shared arrays, but in none of "
               "them: {}\n",
               fabric_.rank(), static_cast<void*>(address), nearest(address));
    return false;
}

std::size_t SharedMemory::accessible(const std::byte* address) const {
    std::size_t bytes = 0;
    numbered_.any([address, &bytes](const Pages& array) {
        const auto offset = static_cast<std::size_t>(address - array.data()); // very large for an address before it
        if (offset < array.layout().frames()) bytes = array.layout().frames() - offset;
        return bytes != 0;
    });
    return bytes;
}

/// What may have been meant. The process is about to end, but another thread may be changing the list, or this one.
std::string SharedMemory::nearest(const std::byte* address) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const Array* before = nullptr;
    if (lock.owns_lock())
        for (const auto& array : arrays_)
            if (array->view.data() <= address && (before == nullptr || before->view.data() < array->view.data()))
                before = array.get();
    if (before == nullptr) return "the array may have been released";
    const std::byte* const end = before->view.data() + before->view.size();
    return fmt::format("it is {} bytes behind the end of the shared array at {} ({} bytes), or in one that has been "
                       "released",
                       address - end, static_cast<const void*>(before->view.data()), before->view.size());
}

// -- inquiries --

Result<SharedMemory::Array*> SharedMemory::array_of(const void* address) {
    if (Array* const found = find(address)) return found;
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("the address {} is in no shared array", address));
}

Result<int> SharedMemory::home(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto array = array_of(address);
    if (!array) return tl::unexpected(array.error());
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - (*array)->view.data());
    const Pages::Layout& layout = (*array)->layout;
    const std::size_t page = offset / layout.page_bytes;
    if ((*array)->pages) {
        const Homes& homes = (*array)->pages->homes();
        return homes.is_open(page) ? KUMIKI_HOME_OPEN : homes.of(page);
    }
    // Ranks that share one memory never find out who touches it.
    if (is_by_touch((*array)->placement)) return KUMIKI_HOME_OPEN;
    return Homes((*array)->placement, layout.pages, fabric_.size()).of(page);
}

Result<kumiki_shared_counters> SharedMemory::counters(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto array = address == nullptr ? Result<Array*>(nullptr) : array_of(address);
    if (!array) return tl::unexpected(array.error());
    kumiki_shared_counters sum{};
    for (const auto& each : arrays_)
        if (each->pages && (*array == nullptr || each.get() == *array)) each->pages->counters().add_to(sum);
    return sum;
}

} // namespace kumiki::dsm
