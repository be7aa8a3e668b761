#include "openmp/ranks/ends.hpp"

#include <cstdarg>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/process/constructors.hpp"
#include "openmp/ranks/ranks.hpp"
#include "openmp/team.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp {
namespace {

/// Null also in a child (vfork), which is about to become another program.
Ranks* ranks_of_this_process() {
    auto* const ranks = static_cast<Ranks*>(process().others());
    return ranks != nullptr && ranks->is_own_process() ? ranks : nullptr;
}

void end_job_for(const void* caller) {
    if (is_program(caller)) end_job();
}

/// The new program would be one process that the others wait for.
void refuse_exec(const void* caller) {
    Ranks* const ranks = ranks_of_this_process();
    if (ranks != nullptr && is_program(caller)) ranks->refuse("exec");
}

/// Arguments that end with a null pointer.
std::vector<char*> list(const char* first, std::va_list& rest) {
    std::vector<char*> all{const_cast<char*>(first)};
    while (all.back() != nullptr) all.push_back(va_arg(rest, char*));
    return all;
}

} // namespace

void LastCalls::add(Call call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
}

void LastCalls::make() {
    while (!calls_.empty()) {
        const Call call = calls_.back();
        calls_.pop_back();
        call.function(call.argument);
    }
}

void end_job() {
    Ranks* const ranks = ranks_of_this_process();
    if (ranks == nullptr || ranks->has_left()) return;
    if (ranks->rank() == 0 && ranks->leads() && in_outermost_region(self()) == nullptr) {
        ranks->fork(ForkNotice{});
        ranks->leave();
    } else ranks->end_job();
}

/// A thread of a region ends the program. The library of Fortran writes what it keeps of its units in a destructor,
/// which would be too late.
static void end_other() {
    run_destructors_of("/libgfortran.so");
    end_job();
}

void await_other_ends(int rank) {
    at_quick_exit(end_job);
    if (rank != 0) std::atexit(end_other); // rank 0 does more (start.cpp)
}

} // namespace kumiki::openmp

// -- functions of the C library --

/// What a library says, which is known by its own handle, stays with the C library.
KUMIKI_ENTRY int __cxa_atexit(void (*function)(void*), void* argument, void* handle) {
    using namespace kumiki::openmp;
    static auto* const after = kumiki::platform::next_function(&__cxa_atexit, "__cxa_atexit");
    auto* const ranks = may_be_program(__builtin_return_address(0)) ? ranks_of_this_process() : nullptr;
    if (ranks == nullptr || ranks->rank() == 0 || (handle != nullptr && !ranks->is_shared(handle)))
        return after(function, argument, handle);
    ranks->last_calls().add({function, argument});
    return 0;
}

#define KUMIKI_END_CALL(name)                                                                                          \
    KUMIKI_ENTRY void name(int code) {                                                                                 \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        kumiki::openmp::end_job_for(__builtin_return_address(0));                                                      \
        after(code);                                                                                                   \
        __builtin_unreachable();                                                                                       \
    }
KUMIKI_END_CALL(_exit)
KUMIKI_END_CALL(_Exit)

#define KUMIKI_EXEC_CALL(name, parameters, arguments)                                                                  \
    KUMIKI_ENTRY int name parameters noexcept {                                                                        \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        kumiki::openmp::refuse_exec(__builtin_return_address(0));                                                      \
        return after arguments;                                                                                        \
    }
KUMIKI_EXEC_CALL(execv, (const char* path, char* const* arguments), (path, arguments))
KUMIKI_EXEC_CALL(execve, (const char* path, char* const* arguments, char* const* environment),
                 (path, arguments, environment))
KUMIKI_EXEC_CALL(execvp, (const char* file, char* const* arguments), (file, arguments))
KUMIKI_EXEC_CALL(execvpe, (const char* file, char* const* arguments, char* const* environment),
                 (file, arguments, environment))
KUMIKI_EXEC_CALL(fexecve, (int file, char* const* arguments, char* const* environment), (file, arguments, environment))

#define KUMIKI_EXEC_LIST_CALL(name, ...)                                                                               \
    KUMIKI_ENTRY int name(const char* path, const char* first, ...) noexcept {                                         \
        kumiki::openmp::refuse_exec(__builtin_return_address(0));                                                      \
        std::va_list rest;                                                                                             \
        va_start(rest, first);                                                                                         \
        const std::vector<char*> all = kumiki::openmp::list(first, rest);                                              \
        const int result = __VA_ARGS__;                                                                                \
        va_end(rest);                                                                                                  \
        return result;                                                                                                 \
    }
KUMIKI_EXEC_LIST_CALL(execl, execv(path, all.data()))
KUMIKI_EXEC_LIST_CALL(execlp, execvp(path, all.data()))
KUMIKI_EXEC_LIST_CALL(execle, execve(path, all.data(), va_arg(rest, char**)))
