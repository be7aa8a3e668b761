#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <mutex>

#include "openmp/entry/entry.hpp"
#include "openmp/lock.hpp"
#include "openmp/process.hpp"
#include "openmp/team.hpp"

/// Entry points of allocators. All memory spaces are the same memory; alignment, the size of the pool and the fallback
/// of an allocator's traits are obeyed, the other traits are hints.
using namespace kumiki::openmp;

namespace {

using Handle = std::uintptr_t;

struct Trait {
    int key;
    Handle value;
};

enum Key { alignment_trait = 2, pool_trait = 4, fallback_trait = 5, other_trait = 6 };
enum Fallback : Handle { default_memory = 11, null = 12, abort_program = 13, other_allocator = 14 };
constexpr Handle by_default = ~Handle{0};
constexpr Handle last_predefined =
    4095; ///< smaller handles are predefined allocators, without traits: no address is so low

constexpr std::size_t no_pool = ~std::size_t{0};

struct Allocator {
    std::size_t alignment = 1;
    std::size_t pool = no_pool;
    Fallback fallback = default_memory;
    Handle other = 0;
    std::size_t used = 0; ///< of the pool
};

/// What lies before each block.
struct Header {
    void* start;       ///< of the memory that malloc gave
    std::size_t size;  ///< of the block
    std::size_t taken; ///< from the pool
    Handle allocator;
};

Allocator* with_traits(Handle handle) {
    return handle <= last_predefined ? nullptr : reinterpret_cast<Allocator*>(handle);
}
Header& header_of(void* block) { return static_cast<Header*>(block)[-1]; }

/// Takes bytes from the pool in the place of `before` others. Threads of several processes may use a pool, so the lock
/// of atomic constructs guards its counter.
bool take(Allocator& allocator, std::size_t bytes, std::size_t before) {
    if (allocator.pool == no_pool) return true;
    const HoldingAtomic holding;
    if (bytes > allocator.pool || allocator.used - before > allocator.pool - bytes) return false;
    allocator.used += bytes - before;
    return true;
}

void give_back(Allocator* allocator, std::size_t bytes) {
    if (allocator == nullptr || allocator->pool == no_pool || bytes == 0) return;
    const HoldingAtomic holding;
    allocator->used -= bytes;
}

/// `replaced`: a block that will be freed when there is a new one, whose room in the pool the new one may have.
void* allocate(std::size_t alignment, std::size_t size, Handle handle, Header* replaced = nullptr) {
    if (size == 0) return nullptr;
    if (handle == 0) handle = self().task->controls.allocator;
    Allocator* const allocator = with_traits(handle);
    if (allocator != nullptr) alignment = std::max(alignment, allocator->alignment);
    alignment = std::max(alignment, alignof(std::max_align_t));
    std::size_t bytes = 0;
    // program_memory() is aligned already, but not for more than max_align_t.
    const std::size_t more = sizeof(Header) + alignment - alignof(std::max_align_t);
    const bool too_large = __builtin_add_overflow(size, more, &bytes);
    const std::size_t before = replaced != nullptr && replaced->allocator == handle ? replaced->taken : 0;
    void* start = nullptr;
    if (!too_large && (allocator == nullptr || take(*allocator, bytes, before))) {
        start = program_memory(bytes);
        if (start != nullptr && before != 0) replaced->taken = 0;
        if (start == nullptr) give_back(allocator, bytes - before);
    }
    if (start == nullptr) {
        const Fallback fallback = allocator != nullptr ? allocator->fallback : null;
        if (fallback == other_allocator) return allocate(alignment, size, allocator->other);
        if (fallback == default_memory) return allocate(alignment, size, 1);
        if (fallback == abort_program)
            refuse(fmt::format("an allocator with the fallback omp_atv_abort_fb has no room for {} bytes", size));
        return nullptr;
    }
    const auto lowest = reinterpret_cast<Handle>(start) + sizeof(Header);
    void* const block = reinterpret_cast<void*>((lowest + alignment - 1) / alignment * alignment);
    header_of(block) = {start, size, bytes, handle};
    return block;
}

void* zeroed(std::size_t alignment, std::size_t count, std::size_t size, Handle handle) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void* const block = allocate(alignment, bytes, handle);
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
}

Handle make_allocator(int count, const Trait* traits) {
    void* const memory = program_memory(sizeof(Allocator));
    if (memory == nullptr) return 0;
    auto* const made = new (memory) Allocator;
    for (int i = 0; i < count; ++i) {
        const auto& [key, value] = traits[i];
        if (value == by_default) continue;
        if (key == alignment_trait) made->alignment = value;
        if (key == pool_trait) made->pool = value;
        if (key == fallback_trait) made->fallback = Fallback(value);
        if (key == other_trait) made->other = value;
    }
    if (std::has_single_bit(made->alignment)) return reinterpret_cast<Handle>(made);
    std::free(made);
    return 0; // omp_null_allocator: the traits are not usable
}

} // namespace

KUMIKI_ENTRY Handle omp_init_allocator(Handle, int count, const Trait* traits) { return make_allocator(count, traits); }
KUMIKI_ENTRY Handle omp_init_allocator_(const Handle*, const std::int32_t* count, const Trait* traits) {
    return make_allocator(*count, traits);
}
KUMIKI_ENTRY Handle omp_init_allocator_8_(const Handle*, const std::int64_t* count, const Trait* traits) {
    return make_allocator(static_cast<int>(*count), traits);
}
KUMIKI_ENTRY void omp_destroy_allocator(Handle handle) { std::free(with_traits(handle)); }
KUMIKI_ENTRY void omp_destroy_allocator_(const Handle* handle) { omp_destroy_allocator(*handle); }
KUMIKI_ENTRY void omp_set_default_allocator(Handle handle) {
    self().task->controls.allocator = handle == 0 ? 1 : handle;
}
KUMIKI_ENTRY void omp_set_default_allocator_(const Handle* handle) { omp_set_default_allocator(*handle); }
KUMIKI_ENTRY Handle omp_get_default_allocator() { return self().task->controls.allocator; }
KUMIKI_ENTRY Handle omp_get_default_allocator_() { return omp_get_default_allocator(); }

KUMIKI_ENTRY void* omp_alloc(std::size_t size, Handle handle) { return allocate(1, size, handle); }
KUMIKI_ENTRY void* omp_aligned_alloc(std::size_t alignment, std::size_t size, Handle handle) {
    return allocate(alignment, size, handle);
}
KUMIKI_ENTRY void* omp_calloc(std::size_t count, std::size_t size, Handle handle) {
    return zeroed(1, count, size, handle);
}
KUMIKI_ENTRY void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size, Handle handle) {
    return zeroed(alignment, count, size, handle);
}
KUMIKI_ENTRY void omp_free(void* block, Handle) {
    if (block == nullptr) return;
    const Header header = header_of(block);
    give_back(with_traits(header.allocator), header.taken);
    std::free(header.start);
}
KUMIKI_ENTRY void* omp_realloc(void* block, std::size_t size, Handle handle, Handle before) {
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
KUMIKI_ENTRY void* GOMP_alloc(std::size_t alignment, std::size_t size, Handle handle) {
    void* const block = allocate(alignment, size, handle);
    if (block == nullptr && size != 0) refuse(fmt::format("there is no memory for a variable of {} bytes", size));
    return block;
}
KUMIKI_ENTRY void GOMP_free(void* block, Handle handle) { omp_free(block, handle); }

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
