#include <atomic>
#include <cstdlib>
#include <cstring>

#include "openmp/entry/kmp.hpp"

/// Entry points of barriers, critical, single and masked constructs, reductions and cancellation as clang calls them.
using namespace kumiki::openmp;
using kmp::Source;

extern "C" bool GOMP_cancel(int construct, bool wanted);
extern "C" bool GOMP_cancellation_point(int construct);

namespace {

/// The lock of a critical construct is in a variable of 32 bytes of the program, which begin as zeros.
using Name = std::int32_t[8];
Lock& lock_in(Name* name) { return *reinterpret_cast<Lock*>(name); }

bool barrier(const void* code) {
    Member& me = self();
    kmp::settle(me);
    return me.team.barrier(me, code);
}

/// The numbers 1 to 4 are constructs of which GOMP_cancel() has one bit each.
int construct(std::int32_t number) { return 1 << (number - 1); }

/// How the threads of a reduction combine their values; the numbers are answers to the program.
enum Way : std::int32_t {
    in_critical = 1, ///< in the program's code, under a lock of the runtime; no lock for a thread that is alone
    by_atomics = 2   ///< in the program's code, by atomic constructs
};
Way way(const Source* source, const Member& me) {
    const bool alone = me.team.size() == 1;
    return !alone && source != nullptr && (source->flags & Source::atomic_reduction) != 0 ? by_atomics : in_critical;
}

std::int32_t begin_reduction(const Source* source, Name* name) {
    const Member& me = self();
    const Way chosen = way(source, me);
    if (chosen == in_critical && me.team.size() > 1) enter_lock(lock_in(name));
    return chosen;
}
void end_reduction(const Source* source, Name* name) {
    const Member& me = self();
    if (way(source, me) == in_critical && me.team.size() > 1) leave_lock(lock_in(name));
}

} // namespace

KUMIKI_ENTRY void __kmpc_barrier(const Source*, std::int32_t) { barrier(__builtin_return_address(0)); }
KUMIKI_ENTRY std::int32_t __kmpc_cancel_barrier(const Source*, std::int32_t) {
    return barrier(__builtin_return_address(0)) ? 1 : 0;
}
KUMIKI_ENTRY void __kmpc_flush(const Source*) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (OtherRanks* const others = process().others()) others->flush();
}

/// A barrier behind which the master goes on first: with one barrier for its arrival and one for its end.
KUMIKI_ENTRY std::int32_t __kmpc_barrier_master(const Source*, std::int32_t) {
    barrier(__builtin_return_address(0));
    if (self().id == 0) return 1;
    barrier(nullptr);
    return 0;
}
KUMIKI_ENTRY void __kmpc_end_barrier_master(const Source*, std::int32_t) { barrier(nullptr); }
KUMIKI_ENTRY std::int32_t __kmpc_barrier_master_nowait(const Source*, std::int32_t) {
    barrier(__builtin_return_address(0));
    return self().id == 0 ? 1 : 0;
}

KUMIKI_ENTRY void __kmpc_critical(const Source*, std::int32_t, Name* name) { enter_lock(lock_in(name)); }
KUMIKI_ENTRY void __kmpc_critical_with_hint(const Source*, std::int32_t, Name* name, std::uint32_t) {
    enter_lock(lock_in(name));
}
KUMIKI_ENTRY void __kmpc_end_critical(const Source*, std::int32_t, Name* name) { leave_lock(lock_in(name)); }

KUMIKI_ENTRY std::int32_t __kmpc_single(const Source*, std::int32_t) {
    Member& me = self();
    return me.team.first_at_single(me) ? 1 : 0;
}
KUMIKI_ENTRY void __kmpc_end_single(const Source*, std::int32_t) {}
KUMIKI_ENTRY void __kmpc_copyprivate(const Source*, std::int32_t, std::size_t, void* data,
                                     void (*copy)(void* to, void* from), std::int32_t is_source) {
    Member& me = self();
    if (is_source != 0) me.team.set_single_data(data); // the barrier publishes it
    me.team.barrier(me, __builtin_return_address(0));
    if (is_source == 0) copy(data, me.team.single_data());
    // The source's variables stay as they are until all have copied them.
    me.team.barrier(me, __builtin_return_address(0));
}

/// The same of LLVM 18 and newer for programs that copy, and meet again, themselves: returns the source's data.
KUMIKI_ENTRY void* __kmpc_copyprivate_light(const Source*, std::int32_t, void* data) {
    Member& me = self();
    if (data != nullptr) me.team.set_single_data(data);
    me.team.barrier(me, __builtin_return_address(0));
    return me.team.single_data();
}

KUMIKI_ENTRY std::int32_t __kmpc_master(const Source*, std::int32_t) { return self().id == 0 ? 1 : 0; }
KUMIKI_ENTRY void __kmpc_end_master(const Source*, std::int32_t) {}
KUMIKI_ENTRY std::int32_t __kmpc_masked(const Source*, std::int32_t, std::int32_t filter) {
    return self().id == filter ? 1 : 0;
}
KUMIKI_ENTRY void __kmpc_end_masked(const Source*, std::int32_t) {}
KUMIKI_ENTRY void __kmpc_scope(const Source*, std::int32_t, void*) {}
KUMIKI_ENTRY void __kmpc_end_scope(const Source*, std::int32_t, void*) {}

KUMIKI_ENTRY std::int32_t __kmpc_reduce_nowait(const Source* source, std::int32_t, std::int32_t, std::size_t, void*,
                                               void (*)(void*, void*), Name* name) {
    return begin_reduction(source, name);
}
/// Is not called after an answer of `by_atomics`.
KUMIKI_ENTRY void __kmpc_end_reduce_nowait(const Source* source, std::int32_t, Name* name) {
    end_reduction(source, name);
}
KUMIKI_ENTRY std::int32_t __kmpc_reduce(const Source* source, std::int32_t, std::int32_t, std::size_t, void*,
                                        void (*)(void*, void*), Name* name) {
    return begin_reduction(source, name);
}
KUMIKI_ENTRY void __kmpc_end_reduce(const Source* source, std::int32_t, Name* name) {
    end_reduction(source, name);
    barrier(__builtin_return_address(0));
}

KUMIKI_ENTRY std::int32_t __kmpc_cancel(const Source*, std::int32_t, std::int32_t number) {
    return GOMP_cancel(construct(number), true) ? 1 : 0;
}
KUMIKI_ENTRY std::int32_t __kmpc_cancellationpoint(const Source*, std::int32_t, std::int32_t number) {
    return GOMP_cancellation_point(construct(number)) ? 1 : 0;
}

/// The error directive.
extern "C" void GOMP_warning(const char* message, std::size_t length);
extern "C" [[noreturn]] void GOMP_error(const char* message, std::size_t length);
KUMIKI_ENTRY void __kmpc_error(const Source*, int severity, const char* text) {
    constexpr int fatal = 2;
    const char* const message = text != nullptr ? text : "";
    if (severity == fatal) GOMP_error(message, std::strlen(message));
    GOMP_warning(message, std::strlen(message));
}
