#include "launch/input_relay.hpp"

#include <cerrno>

namespace kumiki::launch {

Descriptor InputRelay::open() {
    Pipe pipe = Pipe::create();
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
        if (bytes < 0) { // the rank does not read any more
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
