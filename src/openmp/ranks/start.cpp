#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <optional>
#include <pthread.h>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/code/atomic_sites.hpp"
#include "openmp/ranks/code/linkage_table.hpp"
#include "openmp/ranks/ends.hpp"
#include "openmp/ranks/memory/image.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/memory/objects.hpp"
#include "openmp/ranks/memory/other_allocators.hpp"
#include "openmp/ranks/memory/own_libraries.hpp"
#include "openmp/ranks/process/constructors.hpp"
#include "openmp/ranks/process/descriptors.hpp"
#include "openmp/ranks/process/languages.hpp"
#include "openmp/ranks/process/main_thread.hpp"
#include "openmp/ranks/process/signals.hpp"
#include "openmp/ranks/ranks.hpp"
#include "openmp/team.hpp"
#include "settings/settings.hpp"

extern "C" void* __libc_stack_end;

/// The start of a program that runs as several processes. When all libraries have been initialised, the C library's
/// start function is called, which would run the constructors of the program, and main. Here it first joins the job;
/// then rank 0 goes on in a thread whose stack all ranks see, and the others serve.
namespace kumiki::openmp {
namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, int (*)(int, char**, char**), void (*)(), void (*)(), void*);

/// What the dynamic linker wants to be called at the end: a variable of the process, because it is called without one.
void (*linker_end)() = nullptr;

/// The arguments of the C library's function.
struct MainCall {
    Start start;
    Main main;
    int count;
    char** arguments;
    int (*init)(int, char**, char**);
    void (*fini)(), (*linker_fini)();
    void* stack_end;
    Ranks* ranks;
    sigset_t blocked; ///< signals, before the program begins
};

/// Nothing: the program runs as one process.
std::optional<Settings> settings_for_several() {
    auto settings = read_settings(environ);
    if (!settings) refuse(settings.error().message);
    if (settings->size <= 1 || settings->segment < 0) return {};
    return std::move(*settings);
}

/// The dynamic linker calls the constructors of this library before those of all others (-z initfirst), the C library's
/// among them. This one comes first. Programs that the program starts are no ranks.
[[gnu::constructor(101)]] void begin_before_all(int, char**, char** environment) {
    environ = environment; // as the C library's constructor will do
    if (std::getenv("KUMIKI_SIZE") != nullptr) refuse_other_allocators();
}

[[gnu::constructor]] void prepare_libraries() {
    if (const auto settings = settings_for_several()) hold_constructors(settings->openmp_libraries);
}

Ranks& join(const Settings& settings) {
    if (const auto name = unusable_library(settings.openmp_libraries); !name.empty())
        refuse(fmt::format("--libraries {}: the program is not linked with a library of this name, or its memory must "
                           "stay private to each process, as that of the C library",
                           name));
    const Program program = find_program(settings.openmp_libraries);
    prepare_languages();
    auto joined = Ranks::join(settings, program);
    if (!joined) refuse(joined.error().message);
    Ranks& ranks = **joined;
    static_cast<void>(joined->release()); // it lives as long as the process
    process().set_others(ranks);
    serve_allocations(ranks.heap(), ranks.record(), program);
    if (auto replaced = replace_atomics(program.images, ranks); !replaced) refuse(replaced.error().message);
    if (auto bound = bind_calls(program.images); !bound) refuse(bound.error().message);
    if (std::ranges::any_of(program.images, &Image::yields))
        if (auto expected = ranks.expect_waits(); !expected) refuse(expected.error().message);
    if (std::ranges::none_of(program.images, &Image::tries_locks))
        if (auto kept = ranks.keep_locks(); !kept) refuse(kept.error().message);
    if (settings.openmp_atomics == AtomicUpdates::gathered && ranks.rank() == 0)
        if (const auto why = ranks.why_not_gathered())
            say(fmt::format("--atomics gathered has no effect, because {}", *why));
    if (auto met = ranks.begin(); !met) refuse(met.error().message);
    return ranks;
}

/// Brings the arguments, and behind them the environment, as the kernel does, to memory that all ranks see. Returns the
/// arguments.
char** share_texts(int count, char** arguments, Heap& heap) {
    std::vector<char*> copies;
    for (char** texts : {arguments, environ}) {
        for (; *texts != nullptr; ++texts) {
            const std::size_t bytes = std::strlen(*texts) + 1;
            copies.push_back(static_cast<char*>(std::memcpy(heap.allocate(bytes), *texts, bytes)));
        }
        copies.push_back(nullptr);
    }
    auto** const shared = static_cast<char**>(heap.allocate(copies.size() * sizeof(char*)));
    std::ranges::copy(copies, shared);
    environ = shared + count + 1;
    return shared;
}

/// Programs that this one starts are no ranks.
void forget_job() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (const std::string_view text(*entry); text.starts_with("KUMIKI_"))
            names.emplace_back(text.substr(0, text.find('=')));
    for (const std::string& name : names) unsetenv(name.c_str());
}

/// What the library knows of units and their formats is in the program's heap, whose pages others may have.
void close_fortran_units() { run_destructors_of("/libgfortran.so"); }

/// The end of rank 0, in the place of the dynamic linker's: after the program's own handlers and destructors, which may
/// use memory that the others have, and before the destructors of libraries, UCX's among them.
void end_program() {
    auto& ranks = static_cast<Ranks&>(*process().others());
    if (ranks.leads() && in_outermost_region(self()) == nullptr) {
        run_program_destructors();
        close_fortran_units();
    }
    end_job();
    if (linker_end != nullptr) linker_end();
}

/// Tells programs that look how much of main's stack they have used, as R and garbage collectors do, where it ends. The
/// variable is the dynamic linker's, which has made it read-only, unless the program has got a copy of it.
void set_stack_end(const Ranks& ranks, void* end) {
    auto* const begin = reinterpret_cast<std::byte*>(&__libc_stack_end);
    const std::span<std::byte> pages = whole_pages(begin, begin + sizeof __libc_stack_end);
    const bool is_fixed = !ranks.is_shared(begin);
    if (is_fixed && mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE) != 0) return;
    __libc_stack_end = end;
    if (is_fixed) mprotect(pages.data(), pages.size(), PROT_READ);
}

void* run_program(void* argument) {
    const MainCall& program = *static_cast<MainCall*>(argument);
    pthread_sigmask(SIG_SETMASK, &program.blocked, nullptr);
    become_first_thread();
    program.ranks->lead();
    linker_end = program.linker_fini;
    set_stack_end(*program.ranks, __builtin_frame_address(0));
    run_held_constructors(program.count, program.arguments, environ);
    program.start(program.main, program.count, program.arguments, program.init, program.fini, end_program,
                  program.stack_end);
    std::abort(); // it does not return
}

/// What ranks other than 0 do. They end without the handlers and destructors of libraries: these may use variables that
/// lie in the program, as libstdc++ of GCC 13 and newer flushes std::cout, whose pages cannot be fetched any more.
void* serve(void* argument) {
    const MainCall& program = *static_cast<MainCall*>(argument);
    pthread_sigmask(SIG_SETMASK, &program.blocked, nullptr);
    Ranks& ranks = *program.ranks;
    ranks.lead();
    Member& me = self();
    for (;;) {
        const ForkNotice fork = ranks.await_fork();
        if (fork.function == nullptr) break;
        run_part(me, fork);
    }
    ranks.make_last_calls();
    close_fortran_units();
    std::fflush(nullptr);
    ranks.leave();
    _exit(EXIT_SUCCESS);
}

int start(const char* version, MainCall program) {
    program.start = reinterpret_cast<Start>(dlvsym(RTLD_NEXT, "__libc_start_main", version));
    const auto settings = settings_for_several();
    if (!settings)
        return program.start(program.main, program.count, program.arguments, program.init, program.fini,
                             program.linker_fini, program.stack_end);
    note_first_thread();
    program.ranks = &join(*settings);
    forget_job();
    if (program.ranks->rank() == 0) {
        program.arguments = share_texts(program.count, program.arguments, program.ranks->heap());
    } else {
        tell_fortran_arguments(program.count, program.arguments);
        keep_descriptors_apart(program.ranks->rank(), program.ranks->descriptors_for_each());
    }
    program.blocked = leave_signals_to_others(); // the thread that runs main gets those of the process, as it expects
    await_other_ends(program.ranks->rank());
    auto started = program.ranks->start_first_thread(program.ranks->rank() == 0 ? run_program : serve, &program);
    if (!started) refuse(started.error().message);
    pthread_join(*started, nullptr);
    // That thread ends the process, unless it has ended itself; nobody knows then when the program's others have ended.
    std::fflush(nullptr);
    program.ranks->refuse("pthread_exit in the thread that runs main");
}

} // namespace
} // namespace kumiki::openmp

#define KUMIKI_START(own_name, version)                                                                                \
    KUMIKI_ENTRY int own_name(kumiki::openmp::Main main, int count, char** arguments,                                  \
                              int (*init)(int, char**, char**), void (*fini)(), void (*linker_fini)(),                 \
                              void* stack_end) {                                                                       \
        return kumiki::openmp::start(                                                                                  \
            version, {nullptr, main, count, arguments, init, fini, linker_fini, stack_end, nullptr, {}});              \
    }                                                                                                                  \
    __asm__(".symver " #own_name ", __libc_start_main@" version ", remove")

KUMIKI_START(kumiki_start_main, "GLIBC_2.34");
KUMIKI_START(kumiki_old_start_main, "GLIBC_2.2.5");

/// A child would not have the memory of the program.
KUMIKI_ENTRY pid_t fork() {
    static const auto next = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
    if (auto* const others = kumiki::openmp::process().others()) others->refuse("fork");
    return next();
}
