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
    const void *place = nullptr, *variable = nullptr;
    Clock::time_point last{}, flushed{};
    Clock::duration flush{};   ///< how long the last one took
    std::uint64_t changes = 0; ///< the messages before the end of the last one of this thread
    unsigned flushes = 0;      ///< since the last look
    bool worked = true;        ///< since it
    std::chrono::nanoseconds wait{};
};

/// A pass of a loop that waits takes less; a thread that comes later did something else.
constexpr auto pass = microseconds(10);
constexpr std::chrono::nanoseconds shortest_wait = microseconds(5), longest_wait = microseconds(200);
/// A thread that does not wait releases what it has written after so long, and spends at most one part of so many in
/// that.
constexpr std::chrono::nanoseconds shortest_period = microseconds(200);
constexpr int parts = 20;
/// A thread that has flushed more often without a look has other work now.
constexpr unsigned most_flushes = 3;

Looks& looks_of(const VariableWait& wait) {
    static thread_local Looks looks;
    if (looks.by != &wait) looks = {.by = &wait};
    return looks;
}

} // namespace

VariableWait::VariableWait(SharedMemory& memory, Locks& locks, int lock, std::function<void()> flush)
    : memory_(memory), changes_(*memory.changes()), locks_(locks), lock_(lock), flush_(std::move(flush)) {}

Result<std::unique_ptr<VariableWait>> VariableWait::start(SharedMemory& memory, Locks& locks, int lock,
                                                          std::function<void()> flush) {
    std::unique_ptr<VariableWait> started(new VariableWait(memory, locks, lock, std::move(flush)));
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

std::optional<PageName> VariableWait::wanted() const {
    const Looks& looks = looks_of(*this);
    if (looks.variable == nullptr || looks.flushes >= most_flushes) return {};
    return memory_.page_of(looks.variable);
}

/// No other rank releases anything meanwhile, so what comes now was released before this flush took in the news.
void VariableWait::renew() {
    Looks& looks = looks_of(*this);
    if (looks.variable != nullptr && looks.flushes++ < most_flushes) memory_.bring(looks.variable);
    looks.changes = changes_.changes();
}

/// A rank that brings a variable to its home, or releases it there, holds the lock until all can know that, so a flush
/// after the look waits for it. A home that has written the variable's page and not released it yet is asked to do so
/// first.
///
/// The variable has the value of the last look, as far as other ranks are concerned, if no message has changed its page
/// since the flush after that: where others have announced the page, it was fetched again, and that is a change.
///
/// What this thread has written is released when it begins to wait, which is in the second pass of a loop. So that
/// others need not wait for that, it is released now and then at other looks, too; and while the thread waits, because
/// work that took less time than a pass was not noticed. A thread that learns of news takes them in by a flush, too:
/// it drops pages that this rank has written, and what it brings to their homes then must not be seen without the rest.
void VariableWait::look_again(const void* place, const void* variable) {
    Looks& looks = looks_of(*this);
    const auto now = Clock::now();
    const bool same = place == nullptr || std::exchange(looks.place, place) == place;
    const bool waits = same && now - looks.last < pass;
    if (!waits) looks.worked = true;
    if (variable != nullptr) {
        looks.variable = variable;
        looks.flushes = 0;
    }
    const auto last = last_change(variable);
    bool flushes = last.message > looks.changes || last.unreleased_home >= 0 || (waits && looks.worked) ||
                   now - looks.flushed >= std::max<std::chrono::nanoseconds>(parts * looks.flush, shortest_period);
    if (!flushes && waits) {
        flushes = locks_.await_news(lock_, place != nullptr ? looks.wait : looks.wait.zero());
        looks.wait = std::min(2 * looks.wait, longest_wait);
    }
    if (flushes) {
        if (last.unreleased_home >= 0) {
            locks_.ask_to_release(last.unreleased_home);
            memory_.note_release(variable, last);
        }
        const auto begin = Clock::now();
        flush_();
        looks.flushed = Clock::now();
        looks.flush = looks.flushed - begin;
        looks.worked = false;
        looks.wait = shortest_wait;
    }
    looks.last = Clock::now();
}

} // namespace kumiki::dsm
