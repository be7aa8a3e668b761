#include "openmp/ranks/malloc.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/heap.hpp"
#include "openmp/ranks/image.hpp"

// The C library's functions under the names by which only it knows them.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace kumiki::openmp {
namespace {

struct Program {
    Heap& heap;
    Callers callers;
};
/// Null until the program's heap is there. A variable of the process, as malloc is a function of the process.
Program* the_program = nullptr;

} // namespace

bool is_program(const void* caller) { return the_program != nullptr && the_program->callers.has(caller); }

namespace {

/// The heap for a call from this address; null: the C library's.
Heap* heap_for(const void* caller) { return is_program(caller) ? &the_program->heap : nullptr; }

bool is_shared(const void* memory) { return the_program != nullptr && the_program->heap.has(memory); }

void* found(void* memory) {
    if (memory == nullptr) errno = ENOMEM;
    return memory;
}

} // namespace

void serve_allocations(Heap& heap) { the_program = new Program{heap, {}}; }

} // namespace kumiki::openmp

using namespace kumiki::openmp;

#define KUMIKI_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

KUMIKI_ENTRY void* malloc(std::size_t bytes) {
    Heap* const heap = heap_for(KUMIKI_CALLER);
    return heap != nullptr ? found(heap->allocate(bytes)) : __libc_malloc(bytes);
}
KUMIKI_ENTRY void* calloc(std::size_t count, std::size_t bytes) {
    Heap* const heap = heap_for(KUMIKI_CALLER);
    if (heap == nullptr) return __libc_calloc(count, bytes);
    std::size_t all = 0;
    return found(__builtin_mul_overflow(count, bytes, &all) ? nullptr : heap->allocate_zeros(all));
}
KUMIKI_ENTRY void free(void* memory) {
    const int error = errno; // which free() keeps
    if (is_shared(memory)) the_program->heap.release(memory);
    else __libc_free(memory);
    errno = error;
}
KUMIKI_ENTRY void* realloc(void* memory, std::size_t bytes) {
    if (memory == nullptr) {
        Heap* const heap = heap_for(KUMIKI_CALLER);
        return heap != nullptr ? found(heap->allocate(bytes)) : __libc_realloc(memory, bytes);
    }
    if (!is_shared(memory)) return __libc_realloc(memory, bytes);
    if (bytes != 0) return found(the_program->heap.resize(memory, bytes));
    the_program->heap.release(memory);
    return nullptr;
}
KUMIKI_ENTRY void* reallocarray(void* memory, std::size_t count, std::size_t bytes) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) return found(nullptr);
    if (is_shared(memory)) return found(the_program->heap.resize(memory, all));
    Heap* const heap = memory == nullptr ? heap_for(KUMIKI_CALLER) : nullptr;
    return heap != nullptr ? found(heap->allocate(all)) : __libc_realloc(memory, all);
}
KUMIKI_ENTRY void* memalign(std::size_t alignment, std::size_t bytes) {
    Heap* const heap = heap_for(KUMIKI_CALLER);
    return heap != nullptr ? found(heap->allocate(bytes, std::bit_ceil(alignment))) : __libc_memalign(alignment, bytes);
}
KUMIKI_ENTRY void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    Heap* const heap = heap_for(KUMIKI_CALLER);
    return heap != nullptr ? found(heap->allocate(bytes, std::bit_ceil(alignment))) : __libc_memalign(alignment, bytes);
}
KUMIKI_ENTRY int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    Heap* const heap = heap_for(KUMIKI_CALLER);
    void* const got = heap != nullptr ? heap->allocate(bytes, alignment) : __libc_memalign(alignment, bytes);
    if (got == nullptr) return ENOMEM;
    *memory = got;
    return 0;
}
KUMIKI_ENTRY char* strdup(const char* text) {
    const std::size_t bytes = std::strlen(text) + 1;
    Heap* const heap = heap_for(KUMIKI_CALLER);
    void* const copy = heap != nullptr ? found(heap->allocate(bytes)) : __libc_malloc(bytes);
    return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, bytes));
}
KUMIKI_ENTRY char* strndup(const char* text, std::size_t most) {
    const std::size_t length = strnlen(text, most);
    Heap* const heap = heap_for(KUMIKI_CALLER);
    auto* const copy =
        static_cast<char*>(heap != nullptr ? found(heap->allocate(length + 1)) : __libc_malloc(length + 1));
    if (copy == nullptr) return nullptr;
    std::memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
KUMIKI_ENTRY std::size_t malloc_usable_size(void* memory) {
    if (memory == nullptr) return 0;
    if (is_shared(memory)) return the_program->heap.length(memory);
    static const auto next = reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    return next(memory);
}
