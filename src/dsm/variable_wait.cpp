#include "dsm/variable_wait.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kumiki::dsm {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

namespace {

/// What a thread knows of its looks at variables.
struct Looks {
    const VariableWait* by = nullptr;
    const void* place = nullptr;
    Clock::time_point last{}, released{};
    Clock::duration release{}; ///< how long the last one took
    std::uint64_t changes = 0; ///< the messages before this thread has seen what others had released
    bool worked = true;        ///< since the last release
    std::chrono::nanoseconds wait{};
};

/// A pass of a loop that waits takes less; a thread that comes later did something else.
constexpr auto pass = microseconds(10);
constexpr std::chrono::nanoseconds shortest_wait = microseconds(5), longest_wait = microseconds(200);
/// A thread that does not wait releases what it has written after so long, and spends at most one part of so many in
/// that.
constexpr std::chrono::nanoseconds shortest_period = microseconds(200);
constexpr int parts = 20;

} // namespace

VariableWait::VariableWait(SharedMemory& memory, Locks& locks, int lock, std::function<void(Locks::Writes)> pass)
    : memory_(memory), changes_(*memory.changes()), locks_(locks), lock_(lock), pass_(std::move(pass)) {}

Result<std::unique_ptr<VariableWait>> VariableWait::start(SharedMemory& memory, Locks& locks, int lock,
                                                          std::function<void(Locks::Writes)> pass) {
    std::unique_ptr<VariableWait> started(new VariableWait(memory, locks, lock, std::move(pass)));
    auto server = ReleaseServer::start(locks, lock);
    if (!server) return tl::unexpected(server.error());
    started->server_ = std::move(*server);
    started->changes_.ask_for_releases();
    return started;
}

/// Of a variable that is not known, any message may be one.
SharedMemory::Change VariableWait::last_change(const void* variable) const {
    return variable != nullptr ? memory_.last_change(variable) : SharedMemory::Change{changes_.changes()};
}

/// Who brings a variable to its home, or releases it there, holds the lock until all can know that, so a thread that
/// acquires the lock after its look waits for it. A home that has written the variable's page and not released it yet
/// is asked to do so first.
///
/// The variable has the value of the last look, as far as other ranks are concerned, if no message has changed its page
/// since the thread has acquired the lock after that: where others have announced the page, it was fetched again, and
/// that is a change.
///
/// What this thread has written is released when it begins to wait, which is in the second pass of a loop. So that
/// others need not wait for that, it is released now and then at other looks, too; and while the thread waits, because
/// work that took less time than a pass was not noticed.
void VariableWait::look_again(const void* place, const void* variable) {
    static thread_local Looks looks;
    if (looks.by != this) looks = {.by = this};
    const auto now = Clock::now();
    const bool same = place == nullptr || std::exchange(looks.place, place) == place;
    const bool waits = same && now - looks.last < pass;
    if (!waits) looks.worked = true;
    const auto last = last_change(variable);
    const bool changed = last.message > looks.changes || last.unreleased_home >= 0;
    const bool releases =
        (waits && looks.worked) ||
        now - looks.released >= std::max<std::chrono::nanoseconds>(parts * looks.release, shortest_period);
    if (changed || releases) {
        if (last.unreleased_home >= 0) {
            locks_.ask_to_release(last.unreleased_home);
            memory_.note_release(variable, last);
        }
        looks.changes = changes_.changes();
        pass_(releases ? Locks::Writes::released : Locks::Writes::kept);
        looks.wait = shortest_wait;
    } else if (waits) {
        const bool news = locks_.await_news(lock_, place != nullptr ? looks.wait : looks.wait.zero());
        looks.wait = news ? shortest_wait : std::min(2 * looks.wait, longest_wait);
    }
    looks.last = Clock::now();
    if (!releases) return;
    looks.worked = false;
    looks.released = looks.last;
    looks.release = looks.last - now;
}

} // namespace kumiki::dsm
