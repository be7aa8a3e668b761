#include "openmp/ranks/events.hpp"

#include <chrono>
#include <utility>

#include "openmp/ranks/ranks.hpp"
#include "openmp/task.hpp"
#include "platform/thread.hpp"

namespace kumiki::openmp {

void Events::note_open() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
        auto started = platform::start_worker("fulfils events for other ranks",
                                              [this](const std::stop_token& stop) { serve(stop); });
        if (!started) ranks_.refuse("detached tasks, and more threads than there may be");
        thread_ = std::move(*started);
    }
    if (open_++ == 0) changed_.notify_one();
}

void Events::note_fulfilled() {
    const std::lock_guard lock(mutex_);
    --open_;
}

void Events::fulfill(Event& event) {
    List& list = lists_[static_cast<std::size_t>(event.rank)];
    const int owner = event.rank;
    ranks_.acquire(Ranks::event_lock); // the owner's thread learns with it what this rank has written
    event.next = std::exchange(list.first, &event);
    const std::uint64_t fulfilled = ++list.fulfilled;
    ranks_.release(Ranks::event_lock);
    ranks_.words_->store(Words::events, fulfilled, owner);
    ranks_.words_->announce(owner, owner + 1);
}

void Events::serve(const std::stop_token& stop) {
    // A request to stop also ends the wait for other ranks.
    const std::stop_callback stops(stop, [this] { ranks_.announce(); });
    std::uint64_t known = 0;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, stop, [this] { return open_ > 0; });
            if (stop.stop_requested()) return;
        }
        const std::uint64_t announced = ranks_.words_->announced(); // before the look: a change after it ends the wait
        const std::uint64_t fulfilled = ranks_.words_->own(Words::events);
        if (std::exchange(known, fulfilled) != fulfilled) take_in();
        else ranks_.await_announcement(announced, std::chrono::seconds(1));
    }
}

void Events::take_in() {
    ranks_.acquire(Ranks::event_lock);
    Event* event = std::exchange(lists_[static_cast<std::size_t>(ranks_.rank())].first, nullptr);
    ranks_.release(Ranks::event_lock);
    while (event != nullptr) openmp::fulfill(std::exchange(event, event->next));
}

} // namespace kumiki::openmp
