#include <pthread.h>
#include <utility>

#include "openmp/dependences.hpp"
#include "openmp/team.hpp"
#include "platform/thread.hpp"

/// What each thread of the program knows of OpenMP: its place in a team. A thread gets a team of its own (of level 0)
/// when it first meets OpenMP, and keeps it, with all workers, until it ends.
namespace kumiki::openmp {

thread_local Member* the_member [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

/// The end of a thread ends its team. The destructor of a thread_local variable would also run for the thread that ends
/// the process, possibly in the middle of a region; that of a key does not.
struct Key {
    Key() {
        pthread_key_create(&key, [](void* team) {
            delete static_cast<Team*>(team);
            the_member = nullptr; // what the program's own keys destroy later may use OpenMP again
        });
        pthread_atfork(nullptr, nullptr, &after_fork);
    }
    /// In a child process, there are no workers. So the thread that forked begins anew, with the settings that it had;
    /// the memory of its team is lost.
    static void after_fork();
    pthread_key_t key{};
};
const Key the_key; // NOLINT: one for the process

Member& make_team(const Controls& controls) {
    auto team = std::make_unique<Team>(controls);
    the_member = &team->member(0);
    pthread_setspecific(the_key.key, team.release());
    return *the_member;
}

void Key::after_fork() {
    if (the_member == nullptr || the_member->team.level() != 0) return;
    const int place = the_member->place;
    make_team(Controls(the_member->task->controls)).place = place;
}

} // namespace

/// An initial thread is bound to the first place, if threads are bound.
Member& first_member() {
    const Environment& environment = process().environment();
    Member& me = make_team(environment.controls);
    if (!environment.places.empty()) {
        me.place = 0;
        platform::bind_to_cpus(environment.places.front());
    }
    return me;
}

} // namespace kumiki::openmp
