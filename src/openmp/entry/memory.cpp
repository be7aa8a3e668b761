#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <sys/mman.h>

#include "openmp/entry/entry.hpp"
#include "openmp/allocators.hpp"
#include "openmp/lock.hpp"
#include "openmp/process.hpp"
#include "openmp/team.hpp"
#include "platform/memory.hpp"

/// Entry points of allocators.
using namespace kumiki::openmp;

namespace {

/// What lies before each block.
struct Header {
    void* start;       ///< of the memory that malloc gave
    std::size_t size;  ///< of the block
    std::size_t taken; ///< from the pool
    AllocatorHandle allocator;
};

/// Null: a predefined one, without traits.
Allocator* with_traits(AllocatorHandle handle) {
    if (handle == allocator_of_environment) return &process().allocator();
    return handle < allocator_of_environment ? nullptr : reinterpret_cast<Allocator*>(handle);
}
Header& header_of(void* block) { return static_cast<Header*>(block)[-1]; }

/// Takes bytes from the pool in the place of `before` others. Threads of several processes may use a pool, so the lock
/// of atomic constructs guards its counter.
bool take(Allocator& allocator, std::size_t bytes, std::size_t before) {
    if (allocator.pool == Allocator::no_pool) return true;
    const HoldingAtomic holding;
    const std::int64_t more = static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(before);
    if (bytes > allocator.pool || allocator.used + more > static_cast<std::int64_t>(allocator.pool)) return false;
    allocator.used += more;
    return true;
}

void give_back(Allocator* allocator, std::size_t bytes) {
    if (allocator == nullptr || allocator->pool == Allocator::no_pool || bytes == 0) return;
    const HoldingAtomic holding;
    allocator->used -= static_cast<std::int64_t>(bytes);
}

/// Pages that stay in memory are of no use to a program of several processes, whose pages come and go.
bool pins(const Allocator* allocator) {
    return allocator != nullptr && allocator->pinned && process().others() == nullptr;
}

std::size_t in_whole_pages(std::size_t bytes) {
    const std::size_t page = kumiki::platform::page_size();
    return (bytes + page - 1) / page * page;
}

/// Pinned memory has pages for itself, because a page is pinned or not.
void* get_memory(std::size_t bytes, bool pinned) {
    if (!pinned) return program_memory(bytes);
    void* const start = program_memory(in_whole_pages(bytes), kumiki::platform::page_size());
    if (start == nullptr || mlock(start, in_whole_pages(bytes)) == 0) return start;
    std::free(start);
    return nullptr;
}

/// `replaced`: a block that will be freed when there is a new one, whose room in the pool the new one may have.
void* allocate(std::size_t alignment, std::size_t size, AllocatorHandle handle, Header* replaced = nullptr) {
    if (size == 0) return nullptr;
    if (handle == 0) handle = self().task->controls.allocator;
    Allocator* const allocator = with_traits(handle);
    if (allocator != nullptr) alignment = std::max(alignment, allocator->alignment);
    alignment = std::max(alignment, alignof(std::max_align_t));
    std::size_t bytes = 0;
    // program_memory() is aligned already, but not for more than max_align_t.
    const std::size_t more = sizeof(Header) + alignment - alignof(std::max_align_t);
    const bool too_large = __builtin_add_overflow(size, more, &bytes);
    const bool replaces = replaced != nullptr && replaced->allocator == handle && !pins(allocator);
    const std::size_t before = replaces ? replaced->taken : 0;
    void* start = nullptr;
    if (!too_large && (allocator == nullptr || take(*allocator, bytes, before))) {
        start = get_memory(bytes, pins(allocator));
        if (start != nullptr && before != 0) replaced->taken = 0;
        if (start == nullptr) give_back(allocator, bytes - before);
    }
    if (start == nullptr) {
        const Fallback fallback = allocator != nullptr ? allocator->fallback : Fallback::null;
        if (fallback == Fallback::other_allocator) return allocate(alignment, size, allocator->other);
        if (fallback == Fallback::default_memory) return allocate(alignment, size, default_allocator);
        if (fallback == Fallback::abort_program)
            refuse(fmt::format("an allocator with the fallback omp_atv_abort_fb has no room for {} bytes", size));
        return nullptr;
    }
    const auto lowest = reinterpret_cast<AllocatorHandle>(start) + sizeof(Header);
    void* const block = reinterpret_cast<void*>((lowest + alignment - 1) / alignment * alignment);
    header_of(block) = {start, size, bytes, handle};
    return block;
}

void* zeroed(std::size_t alignment, std::size_t count, std::size_t size, AllocatorHandle handle) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void* const block = allocate(alignment, bytes, handle);
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
}

/// omp_null_allocator: the traits are not usable, or there is no memory.
AllocatorHandle make_allocator(int count, const Trait* traits) {
    const auto allocator = Allocator::with({traits, static_cast<std::size_t>(count)});
    void* const memory = allocator ? program_memory(sizeof(Allocator)) : nullptr;
    return memory != nullptr ? reinterpret_cast<AllocatorHandle>(new (memory) Allocator(*allocator)) : 0;
}

} // namespace

KUMIKI_ENTRY AllocatorHandle omp_init_allocator(AllocatorHandle, int count, const Trait* traits) {
    return make_allocator(count, traits);
}
KUMIKI_ENTRY AllocatorHandle omp_init_allocator_(const AllocatorHandle*, const std::int32_t* count,
                                                 const Trait* traits) {
    return make_allocator(*count, traits);
}
KUMIKI_ENTRY AllocatorHandle omp_init_allocator_8_(const AllocatorHandle*, const std::int64_t* count,
                                                   const Trait* traits) {
    return make_allocator(static_cast<int>(*count), traits);
}
KUMIKI_ENTRY void omp_destroy_allocator(AllocatorHandle handle) {
    if (handle != allocator_of_environment) std::free(with_traits(handle));
}
KUMIKI_ENTRY void omp_destroy_allocator_(const AllocatorHandle* handle) { omp_destroy_allocator(*handle); }
KUMIKI_ENTRY void omp_set_default_allocator(AllocatorHandle handle) {
    self().task->controls.allocator = handle == 0 ? default_allocator : handle;
}
KUMIKI_ENTRY void omp_set_default_allocator_(const AllocatorHandle* handle) { omp_set_default_allocator(*handle); }
KUMIKI_ENTRY AllocatorHandle omp_get_default_allocator() { return self().task->controls.allocator; }
KUMIKI_ENTRY AllocatorHandle omp_get_default_allocator_() { return omp_get_default_allocator(); }

KUMIKI_ENTRY void* omp_alloc(std::size_t size, AllocatorHandle handle) { return allocate(1, size, handle); }
KUMIKI_ENTRY void* omp_aligned_alloc(std::size_t alignment, std::size_t size, AllocatorHandle handle) {
    return allocate(alignment, size, handle);
}
KUMIKI_ENTRY void* omp_calloc(std::size_t count, std::size_t size, AllocatorHandle handle) {
    return zeroed(1, count, size, handle);
}
KUMIKI_ENTRY void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size,
                                      AllocatorHandle handle) {
    return zeroed(alignment, count, size, handle);
}
KUMIKI_ENTRY void omp_free(void* block, AllocatorHandle) {
    if (block == nullptr) return;
    const Header header = header_of(block);
    Allocator* const allocator = with_traits(header.allocator);
    give_back(allocator, header.taken);
    if (pins(allocator)) munlock(header.start, in_whole_pages(header.taken));
    std::free(header.start);
}
KUMIKI_ENTRY void* omp_realloc(void* block, std::size_t size, AllocatorHandle handle, AllocatorHandle before) {
    if (block == nullptr) return allocate(1, size, handle);
    if (size == 0) {
        omp_free(block, before);
        return nullptr;
    }
    void* const moved = allocate(1, size, handle == 0 ? header_of(block).allocator : handle, &header_of(block));
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(size, header_of(block).size));
    omp_free(block, before);
    return moved;
}

/// Memory of variables in allocate clauses. Unlike omp_alloc() it never fails.
KUMIKI_ENTRY void* GOMP_alloc(std::size_t alignment, std::size_t size, AllocatorHandle handle) {
    void* const block = allocate(alignment, size, handle);
    if (block == nullptr && size != 0) refuse(fmt::format("there is no memory for a variable of {} bytes", size));
    return block;
}
KUMIKI_ENTRY void GOMP_free(void* block, AllocatorHandle handle) { omp_free(block, handle); }

/// GCC 14: remembers that an allocatable variable is in an allocator's memory. The second asks when the variable is
/// deallocated, and forgets it.
KUMIKI_ENTRY void GOMP_add_alloc(const void* block) {
    auto& known = process().allocatables;
    const std::lock_guard lock(known.mutex);
    known.blocks.insert(block);
}
KUMIKI_ENTRY bool GOMP_is_alloc(const void* block) {
    auto& known = process().allocatables;
    const std::lock_guard lock(known.mutex);
    return known.blocks.erase(block) != 0;
}
