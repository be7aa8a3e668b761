#include "launch/streams/input.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unistd.h>

namespace kumiki::launch {
namespace {

/// A process that reads from a terminal while it is in the background is stopped by the terminal.
bool may_read() { return isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) == getpgrp(); }

} // namespace

void InputSource::start(Events& events, OnInput on_input) {
    events_ = &events;
    on_input_ = std::move(on_input);
    watch();
}

void InputSource::watch() {
    if (events_ != nullptr && window_ > 0 && may_read()) events_->add(STDIN_FILENO, EPOLLIN, [this] { read_some(); });
}

void InputSource::written(std::size_t bytes) {
    window_ += bytes;
    if (window_ == bytes) watch();
}

void InputSource::look_again() { watch(); }

void InputSource::stop() {
    if (events_ != nullptr) events_->remove(STDIN_FILENO);
    events_ = nullptr;
}

void InputSource::read_some() {
    if (!may_read()) return events_->remove(STDIN_FILENO);
    const auto buffer = std::make_unique_for_overwrite<char[]>(read_size);
    const ssize_t bytes = read(STDIN_FILENO, buffer.get(), std::min(read_size, window_));
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes <= 0) stop();
    else if ((window_ -= static_cast<std::size_t>(bytes)) == 0) events_->remove(STDIN_FILENO);
    on_input_(std::string(buffer.get(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))));
}

platform::Descriptor InputRelay::open() {
    platform::Pipe pipe = platform::Pipe::create();
    if (!pipe) return {};
    fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
    pipe_ = std::move(pipe.write);
    return std::move(pipe.read);
}

void InputRelay::add(std::string_view text) {
    if (!pipe_) return;
    at_end_ = at_end_ || text.empty();
    waiting_ += text;
    write_some();
}

void InputRelay::write_some() {
    while (!waiting_.empty()) {
        const ssize_t bytes = write(pipe_.get(), waiting_.data(), waiting_.size());
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0 && errno == EAGAIN) return events_->add(pipe_.get(), EPOLLOUT, [this] { write_some(); });
        if (bytes < 0) { // the rank no longer reads
            channel_.send(Closed{STDIN_FILENO});
            return close();
        }
        waiting_.erase(0, static_cast<std::size_t>(bytes));
        channel_.send(Written{STDIN_FILENO, static_cast<std::uint64_t>(bytes)});
    }
    if (at_end_) close();
    else events_->remove(pipe_.get());
}

void InputRelay::close() {
    events_->remove(pipe_.get());
    pipe_.reset();
    waiting_.clear();
}

} // namespace kumiki::launch
