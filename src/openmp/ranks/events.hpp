#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>

namespace kumiki::openmp {

class Ranks;
struct Event;

/// Events of detached tasks that threads of other processes fulfil. A task belongs to the process that has created it;
/// so they put its event into that one's list, in memory that all see, and a thread of that process fulfils it. This
/// thread looks only while events of its process are open.
class Events {
public:
    struct List {
        Event* first;
        std::uint64_t fulfilled; ///< events so far
    };

    /// `lists`: zeros, by rank; guarded by Ranks::event_lock.
    Events(Ranks& ranks, std::span<List> lists) : ranks_(ranks), lists_(lists) {}
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    /// An event of this process is open, or has been fulfilled.
    void note_open();
    void note_fulfilled();
    /// The event is another process's.
    void fulfill(Event& event);

private:
    void serve(const std::stop_token& stop);
    void take_in();

    Ranks& ranks_;
    const std::span<List> lists_;
    std::mutex mutex_; ///< of what follows
    std::condition_variable_any changed_;
    int open_ = 0;
    std::jthread thread_; ///< started when it is needed first
};

} // namespace kumiki::openmp
