#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <fmt/format.h>
#include <utility>

#include "openmp/entry/kmp.hpp"

/// Entry points of parallel and teams constructs as clang calls them.
using namespace kumiki::openmp;
using kmp::Microtask;
using kmp::Source;

namespace {

constexpr std::size_t most_arguments = 256;

template <std::size_t>
using Pointer = void*;

/// Calls a microtask with `Count` arguments. More arguments than it has do no harm: on all processors that this library
/// is built for, they lie in registers and on the caller's stack, where the function does not look for them.
template <std::size_t... Place>
void call(Microtask microtask, std::int32_t* gtid, std::int32_t* number, void** arguments,
          std::index_sequence<Place...>) {
    using Exact = void (*)(std::int32_t*, std::int32_t*, Pointer<Place>...);
    reinterpret_cast<Exact>(microtask)(gtid, number, arguments[Place]...);
}
template <std::size_t Count>
void call_with(Microtask microtask, std::int32_t* gtid, std::int32_t* number, void** arguments) {
    call(microtask, gtid, number, arguments, std::make_index_sequence<Count>());
}

/// What the threads of a region need to execute its body. It lives on the stack of the master, which waits for them,
/// and which all ranks see.
struct Fork {
    Microtask microtask;
    void (*call)(Microtask, std::int32_t*, std::int32_t*, void**);
    void* arguments[most_arguments];

    Fork(Microtask body, std::int32_t count, std::va_list& list) : microtask(body) {
        if (count < 0 || static_cast<std::size_t>(count) > most_arguments)
            refuse(
                fmt::format("a parallel construct shares {} variables, and clang's programs may share up to {} here; "
                            "put them into one structure, or build the program with gcc",
                            count, most_arguments));
        constexpr std::array<std::pair<std::int32_t, decltype(call)>, 6> callers{
            {{4, call_with<4>},
             {8, call_with<8>},
             {16, call_with<16>},
             {32, call_with<32>},
             {64, call_with<64>},
             {most_arguments, call_with<most_arguments>}}};
        const auto caller = std::ranges::find_if(callers, [=](const auto& each) { return count <= each.first; });
        call = caller->second;
        for (std::int32_t i = 0; i < count; ++i) arguments[i] = va_arg(list, void*);
        std::fill(arguments + count, arguments + caller->first, nullptr);
    }
};

void run_team_member(void* data) {
    const Fork& fork = *static_cast<Fork*>(data);
    Member& me = self();
    std::int32_t gtid = kmp::thread_number(), number = me.id;
    fork.call(fork.microtask, &gtid, &number, const_cast<void**>(fork.arguments));
    kmp::settle(me);
}

/// What clauses say about the thread's next parallel or teams construct, by functions that are called before it.
struct Clauses {
    int threads = 0; ///< 0: no such clause
    Bind bind = Bind::no;
    unsigned teams = 0, thread_limit = 0;
};
thread_local Clauses the_clauses;

/// The numbers of proc_bind are those of omp_proc_bind_t, but clang knows a second one for primary, and others for
/// "none".
Bind bind_of(int number) {
    if (number == 5) return Bind::primary;
    return number >= 2 && number <= 4 ? Bind(number) : Bind::no;
}

void fork(Fork& fork) {
    const Clauses clauses = std::exchange(the_clauses, {});
    begin_parallel({.function = run_team_member,
                    .data = &fork,
                    .threads = clauses.threads,
                    .bind = clauses.bind,
                    .code = reinterpret_cast<const void*>(fork.microtask)});
    run_team_member(&fork);
    end_parallel();
}

} // namespace

extern "C" void GOMP_teams_reg(void (*body)(void*), void* data, unsigned teams, unsigned limit, unsigned flags);

std::int32_t kumiki::openmp::kmp::thread_number() {
    static std::atomic<std::int32_t> next{0}; // numbers of the process, as the interface has them
    thread_local const std::int32_t mine = next.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

KUMIKI_ENTRY void __kmpc_begin(const Source*, std::int32_t) {}
KUMIKI_ENTRY void __kmpc_end(const Source*) {}
KUMIKI_ENTRY std::int32_t __kmpc_ok_to_fork(const Source*) { return 1; }
KUMIKI_ENTRY std::int32_t __kmpc_global_thread_num(const Source*) { return kmp::thread_number(); }
KUMIKI_ENTRY std::int32_t __kmpc_global_num_threads(const Source*) { return self().team.size(); }
KUMIKI_ENTRY std::int32_t __kmpc_bound_thread_num(const Source*) { return self().id; }
KUMIKI_ENTRY std::int32_t __kmpc_bound_num_threads(const Source*) { return self().team.size(); }
KUMIKI_ENTRY std::int32_t __kmpc_in_parallel(const Source*) { return self().team.active_level() > 0 ? 1 : 0; }

KUMIKI_ENTRY void __kmpc_push_num_threads(const Source*, std::int32_t, std::int32_t number) {
    the_clauses.threads = std::max(number, 0);
}
/// Of a target construct, in whose task it is called.
KUMIKI_ENTRY void __kmpc_set_thread_limit(const Source*, std::int32_t, std::int32_t limit) {
    if (limit > 0) self().task->controls.thread_limit = limit;
}
KUMIKI_ENTRY void __kmpc_pop_num_threads(const Source*, std::int32_t) { the_clauses.threads = 0; }
KUMIKI_ENTRY void __kmpc_push_proc_bind(const Source*, std::int32_t, int bind) { the_clauses.bind = bind_of(bind); }

KUMIKI_ENTRY void __kmpc_fork_call(const Source*, std::int32_t count, Microtask microtask, ...) {
    std::va_list list;
    va_start(list, microtask);
    Fork region(microtask, count, list);
    va_end(list);
    fork(region);
}
/// The construct has an if clause; all that it shares is behind one address.
KUMIKI_ENTRY void __kmpc_fork_call_if(const Source* source, std::int32_t, Microtask microtask, std::int32_t condition,
                                      void* argument) {
    if (condition == 0) the_clauses.threads = 1;
    __kmpc_fork_call(source, 1, microtask, argument);
}
/// A region whose if clause is false; the program itself calls its body in between.
KUMIKI_ENTRY void __kmpc_serialized_parallel(const Source*, std::int32_t) {
    the_clauses = {};
    begin_parallel({.function = nullptr, .data = nullptr, .threads = 1});
}
KUMIKI_ENTRY void __kmpc_end_serialized_parallel(const Source*, std::int32_t) {
    kmp::settle(self());
    end_parallel();
}

KUMIKI_ENTRY void __kmpc_push_num_teams_51(const Source*, std::int32_t, std::int32_t least, std::int32_t most,
                                           std::int32_t threads) {
    the_clauses.teams = static_cast<unsigned>(std::max({least, most, 0}));
    the_clauses.thread_limit = static_cast<unsigned>(std::max(threads, 0));
}
KUMIKI_ENTRY void __kmpc_push_num_teams(const Source* source, std::int32_t gtid, std::int32_t teams,
                                        std::int32_t threads) {
    __kmpc_push_num_teams_51(source, gtid, teams, teams, threads);
}
/// The teams of a league on the host run one after the other (GOMP_teams_reg).
KUMIKI_ENTRY void __kmpc_fork_teams(const Source*, std::int32_t count, Microtask microtask, ...) {
    std::va_list list;
    va_start(list, microtask);
    Fork league(microtask, count, list);
    va_end(list);
    const Clauses clauses = std::exchange(the_clauses, {});
    const auto one_unless_set = static_cast<unsigned>(std::max(process().environment().num_teams, 1));
    GOMP_teams_reg(run_team_member, &league, clauses.teams != 0 ? clauses.teams : one_unless_set, clauses.thread_limit,
                   0);
}
