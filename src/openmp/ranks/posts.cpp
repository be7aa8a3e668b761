#include "openmp/ranks/posts.hpp"

#include <utility>

#include "platform/thread.hpp"

namespace kumiki::openmp {
namespace {

/// Some times as long as the others take to learn of it: what is told together travels together. NPB LU by dependences,
/// class A, over two hosts reached 2.4 Gop/s with 100 us, 2.8 with 300 us and with 1 ms; short iterations that wait for
/// each other were fastest with 300 us.
constexpr std::chrono::microseconds rest_between{300};

} // namespace

void Posts::add(const LoopWord& word, std::uint64_t value) {
    {
        const std::lock_guard lock(mutex_);
        const bool is_first = added_.empty(); // otherwise some thread is about to tell the others
        const auto [posted, is_new] = added_.try_emplace(word.shared, word, value);
        if (!is_new) posted->second.value = word.with(posted->second.value, value);
        if (!is_first) return;
        if (!is_due() && starts_thread()) return changed_.notify_one();
    }
    tell_all();
}

void Posts::tell_all() {
    const std::lock_guard telling(telling_);
    All all;
    {
        const std::lock_guard lock(mutex_);
        all = std::exchange(added_, {});
        is_telling_ = true;
    }
    if (!all.empty()) tell_(all);
    {
        const std::lock_guard lock(mutex_);
        is_telling_ = false;
        if (!all.empty()) next_ = Clock::now() + rest_between;
    }
    changed_.notify_one();
}

bool Posts::starts_thread() {
    if (thread_.joinable()) return true;
    auto started =
        platform::start_worker("tells other ranks of iterations", [this](const std::stop_token& stop) { serve(stop); });
    if (started) thread_ = std::move(*started);
    return started.has_value(); // without it, each thread tells the others itself
}

void Posts::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (added_.empty() || is_telling_) {
            changed_.wait(lock, stop, [this] { return !added_.empty() && !is_telling_; });
        } else if (!is_due()) {
            changed_.wait_until(lock, stop, next_, [this] { return added_.empty() || is_telling_; });
        } else {
            lock.unlock();
            tell_all();
            lock.lock();
        }
    }
}

} // namespace kumiki::openmp
