#include <bit>
#include <cstddef>
#include <cstdint>

#include "openmp/allocators.hpp"
#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"

/// Entry points of clang's interface about memory, and the functions that libomp has beside those of OpenMP.
using namespace kumiki::openmp;

extern "C" {
void* omp_alloc(std::size_t size, AllocatorHandle allocator);
void* omp_aligned_alloc(std::size_t alignment, std::size_t size, AllocatorHandle allocator);
void* omp_calloc(std::size_t count, std::size_t size, AllocatorHandle allocator);
void* omp_realloc(void* block, std::size_t size, AllocatorHandle allocator, AllocatorHandle before);
void omp_free(void* block, AllocatorHandle allocator);
AllocatorHandle omp_init_allocator(AllocatorHandle space, int count, const Trait* traits);
void omp_destroy_allocator(AllocatorHandle allocator);
void omp_set_default_allocator(AllocatorHandle allocator);
AllocatorHandle omp_get_default_allocator();
}

KUMIKI_ENTRY void* __kmpc_alloc(int, std::size_t size, AllocatorHandle allocator) { return omp_alloc(size, allocator); }
KUMIKI_ENTRY void* __kmpc_aligned_alloc(int, std::size_t alignment, std::size_t size, AllocatorHandle allocator) {
    return omp_aligned_alloc(alignment, size, allocator);
}
KUMIKI_ENTRY void* __kmpc_calloc(int, std::size_t count, std::size_t size, AllocatorHandle allocator) {
    return omp_calloc(count, size, allocator);
}
KUMIKI_ENTRY void* __kmpc_realloc(int, void* block, std::size_t size, AllocatorHandle allocator,
                                  AllocatorHandle before) {
    return omp_realloc(block, size, allocator, before);
}
KUMIKI_ENTRY void __kmpc_free(int, void* block, AllocatorHandle allocator) { omp_free(block, allocator); }
KUMIKI_ENTRY AllocatorHandle __kmpc_init_allocator(int, AllocatorHandle space, int count, const Trait* traits) {
    return omp_init_allocator(space, count, traits);
}
KUMIKI_ENTRY void __kmpc_destroy_allocator(int, AllocatorHandle allocator) { omp_destroy_allocator(allocator); }
KUMIKI_ENTRY void __kmpc_set_default_allocator(int, AllocatorHandle allocator) { omp_set_default_allocator(allocator); }
KUMIKI_ENTRY AllocatorHandle __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }

KUMIKI_ENTRY int __kmpc_get_target_offload() {
    constexpr int disabled = 0, by_default = 1, mandatory = 2;
    const Environment& environment = process().environment();
    if (environment.needs_device()) return mandatory;
    return environment.target_offload == "DISABLED" ? disabled : by_default;
}

// Memory that only kmp_free() takes back.
KUMIKI_ENTRY void* kmp_malloc(std::size_t size) { return omp_alloc(size, default_allocator); }
KUMIKI_ENTRY void* kmp_calloc(std::size_t count, std::size_t size) {
    return omp_calloc(count, size, default_allocator);
}
KUMIKI_ENTRY void* kmp_realloc(void* block, std::size_t size) {
    return omp_realloc(block, size, default_allocator, default_allocator);
}
KUMIKI_ENTRY void kmp_free(void* block) { omp_free(block, default_allocator); }
KUMIKI_ENTRY void* kmp_aligned_malloc(std::size_t size, std::size_t alignment) {
    return std::has_single_bit(alignment) ? omp_aligned_alloc(alignment, size, default_allocator) : nullptr;
}

/// How long threads spin is this runtime's own choice (KUMIKI_WAIT, OMP_WAIT_POLICY); warnings are few anyway.
KUMIKI_ENTRY void kmp_set_blocktime(int) {}
KUMIKI_ENTRY int kmp_get_blocktime() { return 0; }
KUMIKI_ENTRY void kmp_set_defaults(const char*) {}
KUMIKI_ENTRY void kmp_set_warnings_on() {}
KUMIKI_ENTRY void kmp_set_warnings_off() {}
KUMIKI_ENTRY void kmp_set_library_throughput() {}
KUMIKI_ENTRY void kmp_set_library_turnaround() {}

/// No tool observes the program.
KUMIKI_ENTRY int omp_control_tool(int, int, void*) {
    constexpr int no_tool = -2;
    return no_tool;
}
KUMIKI_ENTRY int omp_control_tool_(const int*, const int*, void*) { return omp_control_tool(0, 0, nullptr); }
