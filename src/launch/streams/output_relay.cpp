#include "launch/streams/output_relay.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <ranges>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace kumiki::launch {

std::optional<OutputRelay::Ends> OutputRelay::open(int local_rank, std::atomic<std::uint32_t>& is_read) {
    const int rank = first_rank_ + local_rank;
    Ends ends;
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        platform::Pipe pipe = platform::Pipe::create();
        if (!pipe) return {};
        fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
        sources_.push_back({std::move(pipe.read), rank, stream, &is_read});
        (stream == STDOUT_FILENO ? ends.output : ends.error) = std::move(pipe.write);
    }
    if (has_marks_ && !open_marks(ends, std::span(sources_).last(2))) return {};
    return ends;
}

/// `sources`: those of the rank.
bool OutputRelay::open_marks(Ends& ends, std::span<const Source> sources) {
    int sockets[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
    markers_.push_back({platform::Descriptor(sockets[0]), sources.front().rank, sources.front().is_read});
    ends.marks = platform::Descriptor(sockets[1]);
    ends.unread = platform::Descriptor(epoll_create1(EPOLL_CLOEXEC));
    return std::ranges::all_of(sources, [&](const Source& source) {
        epoll_event readable{.events = EPOLLIN, .data = {}};
        return epoll_ctl(ends.unread.get(), EPOLL_CTL_ADD, source.pipe.get(), &readable) == 0;
    });
}

void OutputRelay::attach(Events& events) {
    events_ = &events;
    for (Source& source : sources_) watch(source);
    for (Marker& marker : markers_) events.add(marker.socket.get(), EPOLLIN, [this, &marker] { read_mark(marker); });
}

void OutputRelay::watch(Source& source) {
    if (source.pipe) events_->add(source.pipe.get(), EPOLLIN, [this, &source] { read_from(source); });
}

/// Reads once; returns false if there is nothing to read now.
bool OutputRelay::read_from(Source& source) {
    std::size_t& left = window(source.stream);
    source.is_read->store(1); // before: a rank that finds its pipe empty looks at this next
    const auto buffer = std::make_unique_for_overwrite<char[]>(read_size);
    const ssize_t bytes = read(source.pipe.get(), buffer.get(), std::min(read_size, left));
    if (bytes < 0) return errno == EINTR;
    on_output_({source.rank, source.stream, {buffer.get(), static_cast<std::size_t>(bytes)}});
    if (bytes == 0) {
        close_source(source);
        return false;
    }
    left -= static_cast<std::size_t>(bytes);
    if (left == 0)
        for (const Source& other : sources_)
            if (other.pipe && other.stream == source.stream) events_->remove(other.pipe.get());
    return true;
}

void OutputRelay::written(int stream, std::uint64_t bytes) {
    const bool waiting = window(stream) == 0;
    window(stream) += bytes;
    if (finishing_) finish();
    else if (waiting)
        for (Source& source : sources_)
            if (source.stream == stream) watch(source);
    for (Marker& marker : markers_)
        if (marker.waits) pass_mark_on(marker);
}

void OutputRelay::read_mark(Marker& marker) {
    char mark = 0;
    const ssize_t bytes = recv(marker.socket.get(), &mark, 1, MSG_DONTWAIT);
    if (bytes == 1) return pass_mark_on(marker);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    events_->remove(marker.socket.get());
    marker.socket.reset();
}

void OutputRelay::pass_mark_on(Marker& marker) {
    marker.waits = !pass_on_all_of(marker.rank);
    if (marker.waits) return;
    marker.is_read->store(0);
    on_mark_({marker.rank});
}

/// A pipe holds no more than is read at once. Returns false if the other side must write something first.
bool OutputRelay::pass_on_all_of(int rank) {
    for (Source& source : sources_) {
        if (source.rank != rank || !source.pipe) continue;
        int bytes = 0;
        if (ioctl(source.pipe.get(), FIONREAD, &bytes) != 0 || bytes == 0) continue;
        const bool is_all = window(source.stream) >= static_cast<std::size_t>(bytes);
        if (window(source.stream) > 0) read_from(source);
        if (!is_all) return false;
    }
    return true;
}

void OutputRelay::mark_passed(const Mark& mark) {
    for (const Marker& marker : markers_)
        if (marker.rank == mark.rank && marker.socket) send(marker.socket.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void OutputRelay::closed(int stream) {
    for (Source& source : sources_)
        if (source.stream == stream) close_source(source);
}

void OutputRelay::finish() {
    finishing_ = true;
    for (Source& source : sources_) {
        while (source.pipe && window(source.stream) > 0 && read_from(source)) {}
        // A process outside the job may hold the other end, so the relay does not wait for more than what is in the
        // pipe now.
        if (window(source.stream) > 0) close_source(source);
    }
}

bool OutputRelay::finished() const {
    return finishing_ && std::ranges::none_of(sources_, [](const Source& source) { return bool(source.pipe); });
}

void OutputRelay::close_source(Source& source) {
    if (!source.pipe) return;
    if (events_ != nullptr) events_->remove(source.pipe.get());
    source.pipe.reset();
}

} // namespace kumiki::launch
