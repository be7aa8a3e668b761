#include "dsm/shared_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dsm/notice_exchange.hpp"
#include "explain/callers.hpp"
#include "platform/faulting_instruction.hpp"
#include "platform/held_locks.hpp"
#include "platform/memory.hpp"

namespace kumiki::dsm {

SharedMemory::SharedMemory(fabric::Fabric& fabric, collective::Collectives& collectives, Options options)
    : fabric_(fabric),
      collectives_(collectives),
      options_(options),
      copies_(fabric.size() > 1 &&
              (fabric.network() != nullptr || options.copies == CopyHolder::rank || options.check)),
      cache_(fabric, share_of_cache()) {
    if (fabric.network() != nullptr) courier_ = std::make_unique<Courier>(fabric, numbered_);
    if (copies_ && options.check) check_ = std::make_unique<RaceCheck>(fabric, collectives, options.record);
    if (copies_) consistency_ = std::make_unique<Consistency>(fabric, numbered_, courier_.get(), check_.get());
}

/// The ranks of a host have copies of their own, so each gets an equal part, but at least what a thread needs.
std::uint64_t SharedMemory::share_of_cache() const {
    if (options_.cache == 0) return 0;
    const auto ranks = static_cast<std::uint64_t>(fabric_.everybody().host_size());
    return std::max<std::uint64_t>(options_.cache / ranks, 4 * longest_page);
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

// -- consistency --

Result<> SharedMemory::barrier(const Meeting& meeting) {
    if (options_.record == nullptr && !check_) return meet(meeting);
    const explain::Timed timed(options_.record, explain::Tallied::array_barrier);
    auto met = meet(meeting);
    if (met && check_) met = compare_writes();
    if (options_.record != nullptr) options_.record->next_interval();
    return met;
}

/// Before the first array nothing has been written.
Result<> SharedMemory::compare_writes() {
    if (written_ == nullptr) return {};
    return check_->meet(barriers_ - 1, [this](std::uint32_t array) {
        const Pages* const found = numbered_.find(array);
        return found == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(found->data());
    });
}

Result<> SharedMemory::end_check() {
    if (!check_ || written_ == nullptr) return {};
    if (auto met = barrier(); !met) return met;
    check_->finish();
    return {};
}

Result<> SharedMemory::meet_without_copies(const Meeting& meeting) {
    if (auto met = collectives_.barrier(); !met || meeting.message.empty()) return met;
    return collectives_.broadcast(meeting.message.data(), meeting.message.size(), meeting.root);
}

Result<> SharedMemory::meet(const Meeting& meeting) {
    if (!copies_ || written_ == nullptr) return meet_without_copies(meeting); // there has been no array yet
    // What this rank has written is announced once: not before it is certain that the meeting begins.
    if (auto admitted = collectives_.admitted(); !admitted) return admitted;
    auto met = meet_with_copies(meeting);
    if (met) consistency_->answer_early(barriers_);
    return met;
}

/// Between hosts the exchange takes as long as a barrier, so it is the barrier. On one host a barrier is much faster.
Result<> SharedMemory::meet_with_copies(const Meeting& meeting) {
    const bool exchanges = fabric_.network() != nullptr || notices_expected_ || !meeting.message.empty();
    Released own = consistency_->release_to_all(++barriers_, exchanges ? nullptr : written_, meeting.stack);
    consistency_->request_early(barriers_);
    if (fabric_.rank() == meeting.root) own.message = meeting.message;
    // Every rank's changes have reached their homes when it enters the barrier.
    if (!exchanges) {
        if (auto met = collectives_.barrier(); !met) return met;
        if (!written_->is_set(barriers_)) return {};
    }
    const auto all = exchange_notices(fabric_, collectives_, own);
    if (!all) return tl::unexpected(all.error());
    if (fabric_.rank() != meeting.root) all->copy_message(meeting.root, meeting.message);
    notices_expected_ = all->any_notices();
    if (all->any_changes()) consistency_->take_changes(all->changes, own.notices);
    if (!notices_expected_) return {};
    const Pages::Moving moving = consistency_->acquire_from_all(barriers_, all->notices);
    if (moving.fetches) {
        consistency_->fetch_moved();
        if (auto met = collectives_.barrier(); !met) return met;
    }
    consistency_->finish_moves(meeting.ends_alone);
    return moving.collide ? collectives_.barrier() : Result<>{};
}

Result<> SharedMemory::set_protocol(const void* address, SharedProtocol protocol) {
    Array* array = nullptr;
    {
        const std::lock_guard lock(mutex_);
        array = find(address);
    }
    Result<> may;
    if (array == nullptr)
        may = fail(KUMIKI_ERROR_ARGUMENT, fmt::format("the address {} is in no shared array", address));
    else if ((array->pages && array->pages->keeps_open()) || (heap_ && heap_->has(address)))
        may = fail(KUMIKI_ERROR_ARGUMENT, "the protocol of this shared array cannot be changed");
    const std::size_t place = array == nullptr ? 0 : fabric_.memory().offset(array->region);
    if (auto agreed = agree(may, place << 1 | static_cast<std::uint64_t>(protocol),
                            {.status = KUMIKI_ERROR_ARGUMENT,
                             .refused = "another rank cannot change the protocol of the shared array",
                             .differ = "different protocols for one shared array, or one for different arrays"});
        !agreed)
        return agreed;
    if (auto met = barrier(); !met || !copies_ || check_) return met;
    array->pages->set_protocol(protocol);
    return collectives_.barrier();
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
    if (auto agreed = agree(may_open(array, address, first, pages), first << 32 | pages,
                            {.status = KUMIKI_ERROR_ARGUMENT,
                             .refused = "another rank cannot open homes of the shared array",
                             .differ = "to open the homes of different pages"});
        !agreed)
        return agreed;
    if (auto met = barrier(); !met || !copies_ || check_) return met;
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
    if ((array->pages && array->pages->keeps_open()) || (heap_ && heap_->has(address)))
        return fail(KUMIKI_ERROR_ARGUMENT, "the homes of this shared memory stay where they are");
    if (array->placement == Placement::managed)
        return fail(KUMIKI_ERROR_ARGUMENT, "the homes of this shared array are given by a manager, once; allocate it "
                                           "with other homes if they are to change");
    return {};
}

/// The list of arrays is not touched here, because the thread that faulted may be one that changes it; and no other
/// thread releases an array while this one uses it.
bool SharedMemory::fault(std::byte* address, platform::Attempt attempt) {
    platform::expect_no_lock("a page of a shared array is touched");
    if (Pages* const array = numbered_.at(address)) {
        fault(*array, address, attempt);
        return true;
    }
    fmt::print(stderr,
               "kumiki: rank {} has accessed {}, which is among the addresses of shared arrays, but in none of "
               "them: {}\n",
               fabric_.rank(), static_cast<void*>(address), nearest(address));
    return false;
}

void SharedMemory::fault(Pages& array, std::byte* address, platform::Attempt attempt) {
    const auto offset = static_cast<std::size_t>(address - array.data());
    const std::size_t page = offset / array.layout().page_bytes;
    const bool is_watched = array.log() || check_;
    const void* const code = is_watched ? platform::faulting_instruction() : nullptr;
    const Writer writer =
        check_ ? Writer{reinterpret_cast<std::uintptr_t>(explain::in_program(code)), offset} : Writer{};
    const auto begin = explain::Timed::Clock::now();
    array.fault(page, attempt, writer);
    const std::chrono::nanoseconds took = explain::Timed::Clock::now() - begin;
    time_in_faults_.fetch_add(took.count(), std::memory_order_relaxed);
    if (array.log()) array.log().faulted(address, attempt == platform::Attempt::write, code, took);
}

std::size_t SharedMemory::accessible(const std::byte* address) const {
    const Pages* const array = numbered_.at(address);
    return array == nullptr ? 0 : static_cast<std::size_t>(array->data() + array->layout().frames() - address);
}

SharedMemory::Change SharedMemory::last_change(const void* address) const {
    Change change;
    with_page(address, [&](const Pages& array, std::size_t page) {
        const Pages::Origin origin = array.origin(page);
        const int home = array.homes().of(page);
        change = {origin.message, origin.unreleased && home != fabric_.rank() ? home : -1};
    });
    return change;
}

void SharedMemory::bring(const void* address) {
    with_page(address, [](Pages& array, std::size_t page) { array.bring(page); });
}

std::optional<PageName> SharedMemory::page_of(const void* address) const {
    std::optional<PageName> name;
    with_page(address, [&](const Pages& array, std::size_t page) { name = {array.number(), page}; });
    return name;
}

void SharedMemory::note_release(const void* address, const Change& change) {
    with_page(address, [&](Pages& array, std::size_t page) { array.note_release(page, change.message); });
}

std::optional<int> SharedMemory::home_for_changes(const void* word) const {
    std::optional<int> home;
    with_page(word, [&](const Pages& array, std::size_t page) { home = array.home_for_changes(page); });
    return home;
}

std::optional<std::uint64_t> SharedMemory::change_word(Locks& locks, const ChangeLock& change_lock, const void* word,
                                                       const WordChange& change) const {
    std::optional<std::uint64_t> before;
    with_page(word, [&](Pages& array, std::size_t page) {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(word) - array.data());
        const auto home = array.home_for_changes(page);
        if (!home || offset % change.bytes != 0) return;
        const WordRequest wanted{array.number(), offset, change};
        const int lock = change_lock.of(*home);
        if (locks.manages_elsewhere(lock, *home)) before = locks.change_word(lock, array, wanted);
        else if (locks.manages_alone(lock, *home) && !array.keeps_open())
            before = locks.change_own_word(lock, array, wanted);
    });
    return before;
}

std::optional<std::uint64_t> SharedMemory::gather_change(const void* word, const WordChange& change) const {
    std::optional<std::uint64_t> before;
    with_page(word, [&](Pages& array, std::size_t) {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(word) - array.data());
        before = array.gather_change(offset, change);
    });
    return before;
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
    if ((*array)->pages && (*array)->pages->homes().is_open(page)) return KUMIKI_HOME_OPEN;
    // Ranks that share one memory never find out who touches it.
    if (!(*array)->pages && is_by_touch((*array)->placement)) return KUMIKI_HOME_OPEN;
    return standing_home(**array, page);
}

/// The home, or the rank that stands in for it.
int SharedMemory::standing_home(const Array& array, std::size_t page) const {
    if (array.pages) return array.pages->homes().of(page);
    if (array.shape.is_dealt())
        return array.shape.distribution.owner(page * array.layout.page_bytes, array.shape.bytes(), fabric_.size());
    const Placement placement = is_by_touch(array.placement) ? Placement::block : array.placement;
    return Homes({.placement = placement}, array.layout.pages, fabric_.size()).of(page);
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
