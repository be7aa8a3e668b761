#pragma once

#include <cstddef>

/// Where the function that has it was called.
#define KUMIKI_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

namespace kumiki::explain {
class Record;
}

namespace kumiki::openmp {

class Heap;
struct Program;

/// From now on malloc() and its relatives take memory from `heap` if the program calls them, or a library on its
/// behalf (Callers). Other libraries keep to the C library's heap, which is private to the process. What free() gets is
/// known by its address. `heap` must live as long as the process, and so must `record`, which gets to know who has
/// allocated longer blocks; null: nobody does.
void serve_allocations(Heap& heap, explain::Record* record, const Program& program);

/// Whether a call from this address is one of the program, or of a library on its behalf; false before.
bool is_program(const void* caller);
/// The same, or it cannot be told, because the call may be the last thing that a function of the program does
/// (Callers::may_have()).
bool may_be_program(const void* caller);

/// What malloc() returns for a call from this address.
void* allocate(const void* caller, std::size_t bytes);
/// Memory of zeros of the program's heap, for a call from this address, which is one of the program. Null if there is
/// none left, with errno.
void* allocate_zeros(const void* caller, std::size_t bytes, std::size_t alignment);
/// Whether it is memory of the program's heap.
bool is_in_heap(const void* memory);
/// Whether code in it may be executed (Program::makes_code()).
bool may_execute_heap();

} // namespace kumiki::openmp
