#include "launch/streams/outlet.hpp"

#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace kumiki::launch {

Outlet::Outlet(int stream) : stream_(stream), news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Outlet::~Outlet() {
    finish();
    if (thread_.joinable()) thread_.join();
}

void Outlet::add(std::string text, Receipt receipt) {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(text), receipt});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
}

void Outlet::finish() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_one();
    if (thread_.joinable()) return;
    finished_ = true;
    ring();
}

Outlet::News Outlet::take_news() {
    std::uint64_t count = 0;
    static_cast<void>(!read(news_.get(), &count, sizeof count));
    const std::lock_guard lock(mutex_);
    return {std::exchange(receipts_, {}), broken_, finished_};
}

void Outlet::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closing_ || !items_.empty(); });
        if (items_.empty()) break;
        const Item item = std::move(items_.front());
        items_.pop_front();
        lock.unlock();
        write_all(item.text);
        lock.lock();
        receipts_.push_back(item.receipt);
        ring();
    }
    finished_ = true;
    ring();
}

void Outlet::write_all(std::string_view text) {
    while (!text.empty() && !broken_) {
        const ssize_t bytes = write(stream_, text.data(), text.size());
        if (bytes >= 0) text.remove_prefix(static_cast<std::size_t>(bytes));
        else if (errno == EAGAIN) { // somebody else has made our terminal or pipe non-blocking
            pollfd event{.fd = stream_, .events = POLLOUT, .revents = 0};
            poll(&event, 1, -1);
        } else if (errno != EINTR) {
            const std::lock_guard lock(mutex_);
            broken_ = true;
        }
    }
}

void Outlet::ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(!write(news_.get(), &one, sizeof one));
}

} // namespace kumiki::launch
