#include "launch/streams/stream_writer.hpp"

#include <cstdint>
#include <sys/eventfd.h>
#include <utility>

#include "platform/write_all.hpp"

namespace kumiki::launch {

StreamWriter::StreamWriter(int stream) : stream_(stream), progress_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StreamWriter::~StreamWriter() {
    finish();
    if (thread_.joinable()) thread_.join();
}

void StreamWriter::add(std::string text, Receipt receipt) {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(text), receipt});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
}

void StreamWriter::finish() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_one();
    if (thread_.joinable()) return;
    finished_ = true;
    notify();
}

StreamWriter::Progress StreamWriter::take_progress() {
    std::uint64_t count = 0;
    static_cast<void>(!read(progress_.get(), &count, sizeof count));
    const std::lock_guard lock(mutex_);
    return {std::exchange(receipts_, {}), broken_, finished_};
}

void StreamWriter::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closing_ || !items_.empty(); });
        if (items_.empty()) break;
        const Item item = std::move(items_.front());
        items_.pop_front();
        lock.unlock();
        write(item.text);
        lock.lock();
        receipts_.push_back(item.receipt);
        notify();
    }
    finished_ = true;
    notify();
}

void StreamWriter::write(std::string_view text) {
    if (broken_ || platform::write_all(stream_, text)) return;
    const std::lock_guard lock(mutex_);
    broken_ = true;
}

void StreamWriter::notify() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(progress_.get(), &one, sizeof one));
}

} // namespace kumiki::launch
