#include "launch/streams/output_relay.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <ranges>

namespace kumiki::launch {
std::optional<std::array<platform::Descriptor, 2>> OutputRelay::open(int local_rank) {
    std::array<platform::Descriptor, 2> writers;
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        platform::Pipe pipe = platform::Pipe::create();
        if (!pipe) return {};
        fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
        sources_.push_back({std::move(pipe.read), first_rank_ + local_rank, stream});
        writers[static_cast<std::size_t>(stream - 1)] = std::move(pipe.write);
    }
    return writers;
}

void OutputRelay::attach(Events& events) {
    events_ = &events;
    for (Source& source : sources_) watch(source);
}

void OutputRelay::watch(Source& source) {
    if (source.pipe) events_->add(source.pipe.get(), EPOLLIN, [this, &source] { read_from(source); });
}

/// Reads once; returns false if there is nothing to read now.
bool OutputRelay::read_from(Source& source) {
    std::size_t& left = window(source.stream);
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
