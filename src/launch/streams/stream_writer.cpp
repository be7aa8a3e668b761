#include "launch/streams/stream_writer.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "platform/write_all.hpp"

namespace kumiki::launch {
namespace {

std::string cannot_write(int stream, const char* reason) {
    return fmt::format("standard {} cannot be written ({}), so what the ranks have printed is not complete",
                       stream == STDOUT_FILENO ? "output" : "error", reason);
}

} // namespace

StreamWriter::StreamWriter(int stream) : stream_(stream), progress_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StreamWriter::~StreamWriter() {
    finish();
    if (thread_.joinable()) thread_.join();
}

void StreamWriter::add(std::string text, Receipt receipt) {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(text), receipt});
    if (!thread_.joinable()) start();
    changed_.notify_one();
}

/// Without the thread nothing is written, and what waits is given back as if it were.
void StreamWriter::start() {
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        break_off(cannot_write(stream_, "the limits of the user, such as ulimit -u, allow no thread for it"));
        for (const Item& item : items_) receipts_.push_back(item.receipt);
        items_.clear();
        notify();
    }
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
    return {std::exchange(receipts_, {}), broken_, failure_, finished_};
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
    const int error = errno;
    const std::lock_guard lock(mutex_);
    break_off(error == EPIPE ? "" : cannot_write(stream_, std::strerror(error)));
}

void StreamWriter::break_off(std::string failure) {
    broken_ = true;
    failure_ = std::move(failure);
}

void StreamWriter::notify() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(progress_.get(), &one, sizeof one));
}

} // namespace kumiki::launch
