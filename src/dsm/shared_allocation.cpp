// Making and releasing shared arrays: memory at the same address at every rank, with its pages, twins and faults.
#include <algorithm>
#include <bit>
#include <iterator>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <utility>

#include "dsm/contents.hpp"
#include "dsm/distributed_homes.hpp"
#include "dsm/shared_memory.hpp"
#include "platform/memory.hpp"
#include "platform/system_call_trap.hpp"

namespace kumiki::dsm {

using collective::Collectives;
using platform::SecondMapping;

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

Result<void*> SharedMemory::allocate(std::size_t bytes, std::size_t page, Placement placement, explain::Use use) {
    return allocate(Shape::of_bytes(bytes), page, placement, use);
}

Result<void*> SharedMemory::allocate(const Shape& shape, std::size_t page, Placement placement, explain::Use use) {
    if (page == 0) page = platform::page_size();
    if (auto checked = check(shape, page); !checked)
        return tl::unexpected(collectives_.refuse(tl::unexpected(checked.error())).error());
    const std::size_t bytes = shape.bytes();
    const Pages::Layout paged = layout(bytes, page);
    if (!shape.is_dealt()) return add(shape, paged, {.placement = placement}, {.use = use});
    std::vector<HomeRun> homes;
    append_homes(homes, shape.distribution, {0, bytes, paged.frames()}, page, fabric_.size());
    return add(shape, paged, {.placement = Placement::block, .exceptions = homes}, {.use = use});
}

Result<> SharedMemory::check(const Shape& shape, std::size_t page) const {
    const std::size_t shortest = platform::page_size(), bytes = shape.bytes();
    if (bytes == 0) return fail(KUMIKI_ERROR_ARGUMENT, "a shared array needs at least one byte");
    if (!std::has_single_bit(page) || page < shortest || page > longest_page)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("the pages of a shared array cannot be {} bytes long; the length is a power of two "
                                "from {} to {}",
                                page, shortest, longest_page));
    if (bytes > std::size_t{1} << 46)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("a shared array of {} bytes does not fit the address space", bytes));
    return shape.fits_pages(page, fabric_.size());
}

Result<void*> SharedMemory::allocate_open(std::size_t bytes, Placement placement, explain::Use use) {
    return add(Shape::of_bytes(bytes), layout_of_open(bytes), {.placement = placement}, {.open = true, .use = use});
}

Result<> SharedMemory::adopt(std::span<std::byte> memory, const Arrangement& homes, AtHome at_home) {
    const bool open = at_home == AtHome::never_faults;
    const auto paged = open ? layout_of_open(memory.size()) : layout(memory.size(), platform::page_size());
    return add(Shape::of_bytes(memory.size()), paged, homes,
               {.at = memory.data(), .open = open, .use = explain::Use::variables})
        .map([](void*) {});
}

Pages::Layout SharedMemory::layout(std::size_t bytes, std::size_t page) const {
    return {page, (bytes + page - 1) / page, static_cast<std::size_t>(fabric_.size()), check_ != nullptr};
}

Pages::Layout SharedMemory::layout_of_open(std::size_t bytes) const {
    Pages::Layout paged = layout(bytes, platform::page_size());
    paged.lends = !paged.checked;
    return paged;
}

/// How many bytes of an array's region this rank may come to use: a copy of everything, unless there is a bound for
/// copies. Of a heap the program uses as much as it likes.
std::uint64_t SharedMemory::needed_memory(const Pages::Layout& layout, Placement placement, explain::Use use) const {
    const std::uint64_t besides = layout.bytes() - layout.frames();
    if (use == explain::Use::heap) return besides;
    if (!cache_.is_bounded()) return layout.bytes();
    std::uint64_t at_home = piece_of(layout);
    if (placement == Placement::first_rank) at_home = fabric_.rank() == 0 ? layout.frames() : 0;
    return besides + at_home + share_of_cache();
}

Result<void*> SharedMemory::add(Shape shape, const Pages::Layout& layout, const Arrangement& homes, Wish wish) {
    const std::size_t bytes = shape.bytes();
    if (auto made = make_locks(); !made) return tl::unexpected(made.error());
    auto region = copies_ ? collectives_.allocate(layout.bytes(), needed_memory(layout, homes.placement, wish.use))
                          : collectives_.allocate(piece_of(layout));
    if (!region && region.error().status == KUMIKI_ERROR_MEMORY && copies_ && !cache_.is_bounded())
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("{}; each rank may come to have a copy of everything, unless KUMIKI_SHARED_CACHE "
                                "bounds the copies",
                                region.error().message));
    if (!region) return tl::unexpected(region.error());
    auto* const frames = static_cast<std::byte*>(*region);
    if (wish.at != nullptr)
        if (auto copied = copy_contents(collectives_, fabric_.rank() == 0, frames, {wish.at, bytes}); !copied)
            return tl::unexpected(copied.error());

    auto made = make(frames, bytes, layout, homes, wish);
    const std::uint64_t detail =
        shape.fingerprint() << 32 | layout.page_bytes << 10 | static_cast<std::uint64_t>(layout.checked) << 9 |
        static_cast<std::uint64_t>(options_.protocol) << 8 | static_cast<std::uint64_t>(homes.placement);
    if (auto agreed =
            agree(made ? Result<>{} : tl::unexpected(made.error()), detail,
                  {.status = KUMIKI_ERROR_MEMORY,
                   .refused = "another rank could not make the shared array",
                   .differ = "different dimensions, lengths of pages, or different homes, protocols or checks, for one "
                             "shared array"});
        !agreed) {
        made = tl::unexpected(agreed.error()); // it is unmapped before its memory is given back
        static_cast<void>(collectives_.release(*region));
        return tl::unexpected(agreed.error());
    }
    void* const data = made->view.data();
    made->shape = std::move(shape);
    record(*made, bytes, wish.use);
    for (const HomeRun& run : homes.exceptions)
        if (made->log && run.rank == fabric_.rank()) made->log.became_home(run.first * layout.page_bytes, run.count);
    {
        const std::lock_guard lock(mutex_);
        if (made->pages) numbered_.add(made->pages->number(), *made->pages, {made->view.data(), layout.frames()});
        arrays_.push_back(std::make_unique<Array>(std::move(*made)));
    }
    // No rank may ask for a page before all ranks know the array.
    if (auto met = collectives_.barrier(); !met) return tl::unexpected(met.error());
    return data;
}

void SharedMemory::record(Array& array, std::size_t bytes, explain::Use use) const {
    if (options_.record == nullptr) return;
    options_.record->set_copies(copies_);
    const auto placement = static_cast<std::uint8_t>(array.pages ? array.pages->homes().placement() : array.placement);
    array.log = {options_.record,
                 options_.record->array({array.view.data(), bytes}, array.layout.page_bytes, placement, use,
                                        array.pages && array.pages->keeps_open()),
                 array.view.data()};
    if (array.pages) array.pages->observe(array.log);
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
    locks_->observe(options_.record);
    if (check_) {
        if (auto made = check_->clocks().allocate(); !made) return made;
        locks_->check(&check_->clocks());
    }
    if (courier_) courier_->serve(*locks_);
    return make_heap();
}

/// The bytes of each rank's part, the same at all: what the setting says, but never so much that there is too little
/// memory or too few addresses left for the program's arrays.
Result<std::uint64_t> SharedMemory::heap_part() const {
    const auto ranks = static_cast<std::uint64_t>(fabric_.size());
    const auto holders = copies_ ? static_cast<std::uint64_t>(fabric_.everybody().host_size()) : 1;
    const std::uint64_t most = std::min<std::uint64_t>(fabric_.memory().header().arena_bytes / (4 * bytes_for_each()),
                                                       platform::available_memory() / 4 / holders);
    const std::uint64_t page = platform::page_size();
    const std::uint64_t mine = std::min(options_.heap, most) / ranks / page * page;
    std::uint64_t least = 0;
    if (auto reduced = collectives_.reduce(&mine, &least, 1, KUMIKI_UINT64, KUMIKI_MIN, Collectives::every_rank);
        !reduced)
        return tl::unexpected(reduced.error());
    return least;
}

/// With the first array, too. That there is no memory for it is known when a program wants some.
///
/// Its copies are never updated, because a home would bring blocks up to date whose users have changed.
Result<> SharedMemory::make_heap() {
    no_heap_ = "KUMIKI_SHARED_HEAP is 0, or shorter than a page for each rank";
    if (options_.heap == 0) return {};
    const auto part = heap_part();
    if (!part) return tl::unexpected(part.error());
    if (*part == 0) return {};
    const std::size_t bytes = *part * static_cast<std::size_t>(fabric_.size());
    const auto records = collectives_.allocate(SharedHeap::record_bytes(*part));
    const auto memory = records ? add(Shape::of_bytes(bytes), layout(bytes, platform::page_size()),
                                      {.placement = Placement::block}, {.use = explain::Use::heap, .invalidates = true})
                                : Result<void*>(tl::unexpected(records.error()));
    if (!memory) {
        no_heap_ = memory.error().message;
        return {};
    }
    heap_.emplace(fabric_, std::span(static_cast<std::byte*>(*memory), bytes), static_cast<std::byte*>(*records),
                  copies_);
    if (consistency_) consistency_->serve(*heap_);
    return {};
}

Result<SharedHeap*> SharedMemory::heap(const char* operation) {
    if (heap_) return &*heap_;
    if (locks_) return fail(KUMIKI_ERROR_MEMORY, fmt::format("{}: there is no memory for it: {}", operation, no_heap_));
    return fail(KUMIKI_ERROR_STATE, fmt::format("{}: there is no memory for it before the first shared array has been "
                                                "made; allocate that first, at all ranks",
                                                operation));
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
                                               const Arrangement& homes, Wish wish) {
    if (auto prepared = prepare(); !prepared) return tl::unexpected(prepared.error());
    const bool may_be_executed = (wish.use == explain::Use::stacks && options_.executable_stacks) ||
                                 (wish.use == explain::Use::heap && options_.executable_heap);
    auto view = wish.at != nullptr ? Result<SecondMapping>(SecondMapping::over(wish.at, layout.frames()))
                                   : SecondMapping::reserve(address_of(region), layout.frames(), may_be_executed);
    if (!view) return tl::unexpected(view.error());
    if (!copies_) {
        if (auto mapped = map_everybodys(region, *view, piece_of(layout)); !mapped)
            return tl::unexpected(mapped.error());
        return Array{region, std::move(*view), homes.placement, layout, nullptr};
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
    const auto no_addresses = [bytes](const char* what) {
        return fail(KUMIKI_ERROR_MEMORY, fmt::format("there is no address space left for the {} of a shared array of "
                                                     "{} bytes; raise the limit (ulimit -v unlimited)",
                                                     what, bytes));
    };
    std::byte* const twins = layout.checked ? nullptr : platform::reserve_zeros(layout.frames());
    if (twins == nullptr && !layout.checked) return no_addresses("twins");
    std::unique_ptr<Pages> pages;
    try {
        pages =
            std::make_unique<Pages>(fabric_, courier_.get(), cache_, number, Pages::Place{view->data(), region, twins},
                                    layout, homes_of(homes, layout.pages), std::move(*faults));
    } catch (const std::bad_alloc&) {
        if (twins != nullptr) platform::release_zeros(twins, layout.frames());
        return no_addresses("tables");
    }
    if (wish.open) pages->keep_open();
    else if (!check_ && !wish.invalidates) pages->begin_with(options_.protocol);
    if (check_) pages->check(*check_);
    if (auto started = pages->start(wish.at != nullptr); !started) return tl::unexpected(started.error());
    return Array{region, std::move(*view), homes.placement, layout, std::move(pages)};
}

/// Under the race check homes stay where they are, so that all writes are seen in the same way.
Homes SharedMemory::homes_of(const Arrangement& wanted, std::size_t pages) const {
    if (!check_) return {wanted, pages, fabric_.size()};
    std::vector<HomeRun> decided;
    std::ranges::copy_if(wanted.exceptions, std::back_inserter(decided),
                         [](const HomeRun& run) { return run.rank != KUMIKI_HOME_OPEN; });
    const Placement stays = is_by_touch(wanted.placement) ? wanted.until_touched : wanted.placement;
    return {{.placement = stays, .exceptions = decided}, pages, fabric_.size()};
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

/// Collective: whether every rank has done its part, with the same arguments.
Result<> SharedMemory::agree(const Result<>& local, std::uint64_t detail, const Disagreement& otherwise) {
    const std::uint64_t mine[] = {local ? 0U : 1U, detail, ~detail};
    std::uint64_t most[std::size(mine)] = {};
    if (auto reduced =
            collectives_.reduce(mine, most, std::size(mine), KUMIKI_UINT64, KUMIKI_MAX, Collectives::every_rank);
        !reduced)
        return reduced;
    if (!local) return local;
    if (most[0] != 0) return fail(otherwise.status, fmt::format("{}; its own message says why", otherwise.refused));
    if (most[1] != ~most[2])
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("the ranks want {}; all of them must give the same", otherwise.differ));
    return {};
}

SharedMemory::Array* SharedMemory::find(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    for (const auto& array : arrays_)
        if (at >= array->view.data() && at < array->view.data() + array->view.size()) return array.get();
    return nullptr;
}

/// In three steps, because the other threads of all ranks go on, and may release what they have written or drop copies
/// meanwhile: all ranks agree that this array goes; each retires it, and has what is under way to it or from it; and
/// when all have done that, nobody sends anything for it any more.
Result<> SharedMemory::release(void* memory) {
    Array* array = nullptr;
    {
        const std::lock_guard lock(mutex_);
        array = find(memory);
    }
    Result<> may;
    if (heap_ && heap_->has(memory))
        may = fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{} comes from shared_malloc; shared_free releases it", memory));
    else if (array == nullptr || array->view.data() != memory)
        may = fail(KUMIKI_ERROR_ARGUMENT, fmt::format("there is no shared array that begins at {}", memory));
    if (auto agreed = agree(may, may ? fabric_.memory().offset(array->region) : 0,
                            {.status = KUMIKI_ERROR_ARGUMENT,
                             .refused = "another rank has no such shared array to release",
                             .differ = "to release different shared arrays"});
        !agreed)
        return agreed;
    if (check_) // looks at the array once more
        if (auto met = barrier(); !met) return met;
    if (array->pages)
        if (auto retired = retire(*array->pages); !retired) return retired;
    std::byte* const region = array->region;
    if (array->log) array->log.ended();
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(arrays_, [array](const auto& each) { return each.get() == array; });
    }
    return collectives_.release(region);
}

/// After this no thread of the library touches the pages.
Result<> SharedMemory::retire(Pages& pages) {
    consistency_->retire(pages);
    cache_.forget(pages);
    if (courier_) courier_->await_applied(); // differences that the cache has sent
    if (auto met = collectives_.barrier(); !met) return met;
    consistency_->forget([&] {
        if (courier_) courier_->forget(numbered_, pages.number());
        else numbered_.remove(pages.number());
    });
    return {};
}

} // namespace kumiki::dsm
