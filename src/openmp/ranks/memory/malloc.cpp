#include "openmp/ranks/memory/malloc.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <dlfcn.h>

#include "explain/callers.hpp"
#include "explain/record.hpp"
#include "openmp/entry/entry.hpp"
#include "openmp/ranks/memory/heap.hpp"
#include "openmp/ranks/memory/image.hpp"
#include "openmp/ranks/process/signals.hpp"
#include "openmp/ranks/process/streams.hpp"
#include "openmp/ranks/process/ties.hpp"
#include "platform/memory.hpp"

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

/// One of these functions. A handler of the program that came while the thread holds a lock of theirs would wait for
/// ever, for the runtime needs memory for an atomic instruction or a page that the handler uses.
template <auto function, class... Arguments>
auto by_c_library(Arguments... arguments) {
    const SignalsLater later;
    return function(arguments...);
}

struct ServedProgram {
    Heap& heap;
    explain::Record* record;
    Callers callers;
    bool makes_code;
};
/// Null until the program's heap is there. A variable of the process, as malloc is a function of the process.
ServedProgram* the_program = nullptr;

} // namespace

bool is_program(const void* caller) { return the_program != nullptr && the_program->callers.has(caller); }
bool may_be_program(const void* caller) { return the_program != nullptr && the_program->callers.may_have(caller); }
bool may_execute_heap() { return the_program != nullptr && the_program->makes_code; }
bool is_in_heap(const void* memory) { return the_program != nullptr && the_program->heap.has(memory); }

namespace {

/// The heap for a call from this address; null: the C library's.
Heap* heap_for(const void* caller) {
    if (is_program(caller)) return &the_program->heap;
    if (the_program != nullptr && the_program->callers.has_apart(caller)) note_tie();
    return nullptr;
}

void* found(void* memory) {
    if (memory == nullptr) errno = ENOMEM;
    return memory;
}

/// The same for memory that a function of the program gets; the record knows who has allocated longer blocks.
void* found(void* memory, std::size_t bytes, const void* caller) {
    if (memory != nullptr && the_program->record != nullptr && bytes >= platform::page_size()) [[unlikely]]
        the_program->record->add(explain::Kind::block, explain::Record::no_array, memory, bytes,
                                 explain::in_program(static_cast<const char*>(caller) - 1));
    return found(memory);
}

} // namespace

void* allocate(const void* caller, std::size_t bytes) {
    Heap* const heap = heap_for(caller);
    if (heap != nullptr) return found(heap->allocate(bytes), bytes, caller);
    void* const stream = Streams::memory_for_stream(bytes);
    return stream != nullptr ? stream : by_c_library<__libc_malloc>(bytes);
}

namespace {

void* allocate_aligned(const void* caller, std::size_t alignment, std::size_t bytes) {
    Heap* const heap = heap_for(caller);
    return heap != nullptr ? found(heap->allocate(bytes, alignment), bytes, caller)
                           : by_c_library<__libc_memalign>(alignment, bytes);
}

void* resize(const void* caller, void* memory, std::size_t bytes) {
    if (memory == nullptr) return allocate(caller, bytes);
    if (!is_in_heap(memory)) return by_c_library<__libc_realloc>(memory, bytes);
    if (bytes != 0) return found(the_program->heap.resize(memory, bytes), bytes, caller);
    the_program->heap.release(memory);
    return nullptr;
}

/// A copy of a text's first `length` characters.
template <class Character>
Character* duplicate(const void* caller, const Character* text, std::size_t length) {
    auto* const copy = static_cast<Character*>(allocate(caller, (length + 1) * sizeof *text));
    if (copy == nullptr) return nullptr;
    std::memcpy(copy, text, length * sizeof *text);
    copy[length] = {};
    return copy;
}

} // namespace

void* allocate_zeros(const void* caller, std::size_t bytes, std::size_t alignment) {
    return found(the_program->heap.allocate_zeros(bytes, alignment), bytes, caller);
}

void serve_allocations(Heap& heap, explain::Record* record, const Program& program) {
    the_program = new ServedProgram{heap, record, Callers(program), program.makes_code()};
}

} // namespace kumiki::openmp

using namespace kumiki::openmp;

KUMIKI_ENTRY void* malloc(std::size_t bytes) { return allocate(KUMIKI_CALLER, bytes); }
KUMIKI_ENTRY void* calloc(std::size_t count, std::size_t bytes) {
    if (heap_for(KUMIKI_CALLER) == nullptr) return by_c_library<__libc_calloc>(count, bytes);
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) return found(nullptr);
    return allocate_zeros(KUMIKI_CALLER, all, Heap::smallest);
}
KUMIKI_ENTRY void free(void* memory) {
    const int error = errno; // which free() keeps
    if (is_in_heap(memory)) the_program->heap.release(memory);
    else if (!Streams::release(memory)) by_c_library<__libc_free>(memory);
    errno = error;
}
KUMIKI_ENTRY void* realloc(void* memory, std::size_t bytes) { return resize(KUMIKI_CALLER, memory, bytes); }
KUMIKI_ENTRY void* reallocarray(void* memory, std::size_t count, std::size_t bytes) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) return found(nullptr);
    return resize(KUMIKI_CALLER, memory, all);
}
KUMIKI_ENTRY void* memalign(std::size_t alignment, std::size_t bytes) {
    return allocate_aligned(KUMIKI_CALLER, std::bit_ceil(alignment), bytes);
}
KUMIKI_ENTRY void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return allocate_aligned(KUMIKI_CALLER, std::bit_ceil(alignment), bytes);
}
KUMIKI_ENTRY int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    const int error = errno; // which posix_memalign() keeps
    void* const got = allocate_aligned(KUMIKI_CALLER, alignment, bytes);
    errno = error;
    if (got == nullptr) return ENOMEM;
    *memory = got;
    return 0;
}
KUMIKI_ENTRY void* valloc(std::size_t bytes) {
    return allocate_aligned(KUMIKI_CALLER, kumiki::platform::page_size(), bytes);
}
KUMIKI_ENTRY void* pvalloc(std::size_t bytes) {
    const std::size_t page = kumiki::platform::page_size();
    if (bytes > PTRDIFF_MAX) return found(nullptr);
    return allocate_aligned(KUMIKI_CALLER, page, kumiki::platform::round_up(bytes, page));
}
// The same functions under the names by which headers of older C libraries call them, too.
#define KUMIKI_DUPLICATE(name, most_name)                                                                              \
    KUMIKI_ENTRY char* name(const char* text) { return duplicate(KUMIKI_CALLER, text, std::strlen(text)); }            \
    KUMIKI_ENTRY char* most_name(const char* text, std::size_t most) {                                                 \
        return duplicate(KUMIKI_CALLER, text, strnlen(text, most));                                                    \
    }
KUMIKI_DUPLICATE(strdup, strndup)
KUMIKI_DUPLICATE(__strdup, __strndup)
KUMIKI_ENTRY wchar_t* wcsdup(const wchar_t* text) { return duplicate(KUMIKI_CALLER, text, std::wcslen(text)); }
KUMIKI_ENTRY std::size_t malloc_usable_size(void* memory) {
    if (memory == nullptr) return 0;
    if (is_in_heap(memory)) return the_program->heap.usable(memory);
    static const auto next = reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    return next(memory);
}
