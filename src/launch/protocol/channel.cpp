#include "launch/protocol/channel.hpp"

#include <array>
#include <cerrno>
#include <memory>
#include <poll.h>

namespace kumiki::launch {
namespace {

void do_not_block(const platform::Descriptor& descriptor) {
    fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

} // namespace

Channel::Channel(platform::Descriptor input, platform::Descriptor output, bool greeted)
    : input_(std::move(input)), output_(std::move(output)), reader_(greeted) {
    do_not_block(input_);
    do_not_block(output_);
}

void Channel::attach(Events& events, OnFrame on_frame, OnEnd on_end) {
    events_ = &events;
    on_frame_ = std::move(on_frame);
    on_end_ = std::move(on_end);
    events.add(input_.get(), EPOLLIN, [this] { receive(); });
    if (!unsent_.empty()) send_bytes({});
}

void Channel::send_bytes(std::string_view bytes) {
    if (!output_) return;
    const bool waiting = !unsent_.empty();
    unsent_ += bytes;
    if (waiting && events_ != nullptr && !bytes.empty()) return; // the event loop writes the rest
    // The end of the input shows that the reader is gone, and the input contains its last messages.
    if (!write_some() && events_ != nullptr) events_->remove(output_.get());
    if (unsent_.empty() || events_ == nullptr) return;
    events_->add(output_.get(), EPOLLOUT, [this] {
        if (!write_some() || unsent_.empty()) events_->remove(output_.get());
    });
}

/// Returns false when there is no longer a reader; then it drops the unsent bytes.
bool Channel::write_some() {
    std::size_t done = 0;
    bool alive = true;
    while (done < unsent_.size()) {
        const ssize_t bytes = write(output_.get(), unsent_.data() + done, unsent_.size() - done);
        if (bytes >= 0) done += static_cast<std::size_t>(bytes);
        else if (errno != EINTR) {
            alive = errno == EAGAIN;
            break;
        }
    }
    if (alive) unsent_.erase(0, done);
    else unsent_.clear();
    return alive;
}

Channel::Input Channel::read_some() {
    const auto buffer = std::make_unique_for_overwrite<char[]>(read_size);
    const ssize_t bytes = read(input_.get(), buffer.get(), read_size);
    if (bytes > 0) {
        reader_.add({buffer.get(), static_cast<std::size_t>(bytes)});
        return Input::more;
    }
    return bytes < 0 && (errno == EAGAIN || errno == EINTR) ? Input::nothing_now : Input::ended;
}

void Channel::receive() {
    while (input_) {
        const Input state = read_some();
        while (input_) {
            const auto frame = reader_.next();
            if (!frame) break;
            on_frame_(*frame);
        }
        if (state == Input::ended || reader_.broken()) end();
        if (state != Input::more) return;
    }
}

void Channel::end() {
    if (!input_) return;
    close();
    on_end_();
}

void Channel::close() {
    if (events_ != nullptr && input_) {
        events_->remove(input_.get());
        events_->remove(output_.get());
    }
    input_.reset();
    output_.reset();
    unsent_.clear();
}

std::optional<Frame> Channel::wait_for_frame(Clock::time_point until) {
    for (;;) {
        if (auto frame = reader_.next()) return frame;
        if (reader_.broken()) break;
        std::array<pollfd, 2> either{{{input_.get(), POLLIN, 0}, {unsent_.empty() ? -1 : output_.get(), POLLOUT, 0}}};
        if (poll(either.data(), either.size(), milliseconds_until(until)) == 0) break;
        if (either[1].revents != 0) write_some();
        if (either[0].revents != 0 && read_some() == Input::ended) break;
    }
    return {};
}

void Channel::wait_until_written(Clock::time_point until) {
    while (output_ && !unsent_.empty() && Clock::now() < until) {
        pollfd writable{output_.get(), POLLOUT, 0};
        poll(&writable, 1, milliseconds_until(until));
        write_some();
    }
}

} // namespace kumiki::launch
