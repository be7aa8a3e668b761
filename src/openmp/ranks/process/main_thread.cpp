#include "openmp/ranks/process/main_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <link.h>
#include <span>
#include <threads.h>
#include <vector>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/memory/objects.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp {
namespace {

/// The thread-local variables of a library.
struct ThreadLocals {
    std::size_t library; ///< the dynamic linker's number of it
    std::vector<std::byte> values;
};

/// Variables of the process, because functions of the C library ask for them.
struct FirstThread {
    pthread_t thread{};
    pthread_t runs_main{}; ///< 0: none does in this process
    std::vector<ThreadLocals> variables;
};
constinit FirstThread first; // NOLINT: see above
thread_local bool is_first = false;

/// Calls function(library, the dynamic linker's number of it, its thread-local variables of this thread, their first
/// values) for each library that has some; those behind the first values begin as zeros.
template <class Function>
void for_each_library(Function function) {
    const auto visit = [](dl_phdr_info* info, std::size_t, void* argument) {
        const Object object(*info);
        const auto segment = std::ranges::find(object.segments(), PT_TLS, &ElfW(Phdr)::p_type);
        if (segment == object.segments().end() || info->dlpi_tls_data == nullptr) return 0;
        const std::span variables(static_cast<std::byte*>(info->dlpi_tls_data), segment->p_memsz);
        const std::span<const std::byte> values(object.address_of(segment->p_vaddr), segment->p_filesz);
        (*static_cast<Function*>(argument))(object, info->dlpi_tls_modid, variables, values);
        return 0;
    };
    dl_iterate_phdr(visit, &function);
}

/// Those of the C library, and of the dynamic linker, are about the thread itself, and this library knows its threads.
bool is_about_thread(const Object& object, std::span<const std::byte> variables) {
    const auto* const of_c = reinterpret_cast<const std::byte*>(&errno);
    const auto* const of_this = reinterpret_cast<const std::byte*>(&is_first);
    const auto has = [&](const std::byte* variable) {
        return variable >= variables.data() && variable < variables.data() + variables.size();
    };
    return object.has_name("ld-linux-x86-64") || has(of_c) || has(of_this);
}

pthread_t self_of_c_library() {
    static auto* const after = platform::next_function(&pthread_self, "pthread_self");
    return after();
}

} // namespace

void note_first_thread() {
    first.thread = self_of_c_library();
    for_each_library([](const Object& object, std::size_t library, std::span<std::byte> variables,
                        std::span<const std::byte> values) {
        if (is_about_thread(object, variables)) return;
        const auto rest = variables.subspan(values.size());
        const bool is_new = std::ranges::equal(variables.first(values.size()), values) &&
                            std::ranges::all_of(rest, [](std::byte each) { return each == std::byte{}; });
        if (!is_new) first.variables.push_back({library, {variables.begin(), variables.end()}});
    });
}

void become_first_thread() {
    for_each_library([](const Object&, std::size_t library, std::span<std::byte> variables, auto) {
        const auto noted = std::ranges::find(first.variables, library, &ThreadLocals::library);
        if (noted != first.variables.end()) std::ranges::copy(noted->values, variables.begin());
    });
    first.runs_main = self_of_c_library();
    is_first = true;
}

pthread_t meant_by(pthread_t thread) {
    if (thread != first.thread || process().others() == nullptr) return thread;
    if (first.runs_main == pthread_t{})
        process().others()->refuse("the thread that runs main in another process (pthread_kill, pthread_join and the "
                                   "like)");
    return first.runs_main;
}

} // namespace kumiki::openmp

// -- functions of the C library --

KUMIKI_ENTRY pthread_t pthread_self() noexcept {
    using namespace kumiki::openmp;
    return is_first ? first.thread : self_of_c_library();
}
KUMIKI_ENTRY thrd_t thrd_current() { return pthread_self(); }

// A function and its older version, its parameters, and the names of these, the first of which is a thread. (To join
// the thread that runs main is to wait for ever, so the functions that only try to are not here.)
#define KUMIKI_THREAD_CALL(name, version, old_version, parameters, ...)                                                \
    KUMIKI_ENTRY int kumiki_##name parameters {                                                                        \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return after(kumiki::openmp::meant_by(thread) __VA_OPT__(, ) __VA_ARGS__);                                     \
    }                                                                                                                  \
    KUMIKI_ENTRY int kumiki_old_##name parameters __attribute__((alias("kumiki_" #name)));                             \
    __asm__(".symver kumiki_" #name ", " #name "@" version ", remove");                                                \
    __asm__(".symver kumiki_old_" #name ", " #name "@" old_version ", remove")

KUMIKI_THREAD_CALL(pthread_join, "GLIBC_2.34", "GLIBC_2.2.5", (pthread_t thread, void** result), result);
KUMIKI_THREAD_CALL(pthread_detach, "GLIBC_2.34", "GLIBC_2.2.5", (pthread_t thread));
KUMIKI_THREAD_CALL(pthread_cancel, "GLIBC_2.34", "GLIBC_2.2.5", (pthread_t thread));
KUMIKI_THREAD_CALL(pthread_kill, "GLIBC_2.34", "GLIBC_2.2.5", (pthread_t thread, int signal), signal);
KUMIKI_THREAD_CALL(pthread_sigqueue, "GLIBC_2.34", "GLIBC_2.11", (pthread_t thread, int signal, const sigval value),
                   signal, value);
KUMIKI_THREAD_CALL(pthread_getattr_np, "GLIBC_2.32", "GLIBC_2.2.5", (pthread_t thread, pthread_attr_t* attributes),
                   attributes);
KUMIKI_THREAD_CALL(pthread_getname_np, "GLIBC_2.34", "GLIBC_2.12", (pthread_t thread, char* to, std::size_t bytes), to,
                   bytes);
KUMIKI_THREAD_CALL(pthread_setname_np, "GLIBC_2.34", "GLIBC_2.12", (pthread_t thread, const char* name), name);
KUMIKI_THREAD_CALL(pthread_setschedprio, "GLIBC_2.34", "GLIBC_2.3.4", (pthread_t thread, int priority), priority);
KUMIKI_THREAD_CALL(pthread_getcpuclockid, "GLIBC_2.34", "GLIBC_2.2.5", (pthread_t thread, clockid_t* clock), clock);

KUMIKI_ENTRY int pthread_getschedparam(pthread_t thread, int* policy, sched_param* to) noexcept {
    static auto* const after = kumiki::platform::next_function(&pthread_getschedparam, "pthread_getschedparam");
    return after(kumiki::openmp::meant_by(thread), policy, to);
}
KUMIKI_ENTRY int pthread_setschedparam(pthread_t thread, int policy, const sched_param* from) noexcept {
    static auto* const after = kumiki::platform::next_function(&pthread_setschedparam, "pthread_setschedparam");
    return after(kumiki::openmp::meant_by(thread), policy, from);
}
