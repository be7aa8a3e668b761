#include "launch/label.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace kumiki::launch {
namespace {

constexpr std::size_t chunk = std::size_t{64} << 10;
constexpr std::uint64_t finish_event = ~std::uint64_t{0};

void ring(const Descriptor& event) {
    const std::uint64_t one = 1;
    static_cast<void>(!write(event.get(), &one, sizeof one));
}

} // namespace

LineLabeller::LineLabeller(int rank) : label_(fmt::format("[{}] ", rank)) {}

void LineLabeller::add(std::string_view text, std::string& out) {
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        out.append(label_).append(partial_).append(text.substr(0, end + 1));
        partial_.clear();
        text.remove_prefix(end + 1);
    }
    partial_.append(text);
}

void LineLabeller::finish(std::string& out) {
    if (partial_.empty()) return;
    out.append(label_).append(partial_).append("\n");
    partial_.clear();
}

Labels::Labels() : finish_(eventfd(0, EFD_CLOEXEC)), done_(eventfd(0, EFD_CLOEXEC)) {}

Labels::~Labels() {
    if (!thread_.joinable()) return;
    finish();
    thread_.join();
}

std::array<Descriptor, 2> Labels::open(int rank) {
    std::array<Descriptor, 2> writers;
    for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
        Pipe pipe = Pipe::create();
        if (!pipe) return {};
        fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
        sources_.push_back({std::move(pipe.read), target, LineLabeller(rank)});
        writers[target == STDOUT_FILENO ? 0 : 1] = std::move(pipe.write);
    }
    return writers;
}

void Labels::start() {
    thread_ = std::thread([this] {
        copy();
        ring(done_);
    });
}

void Labels::finish() { ring(finish_); }

void Labels::copy() {
    const Descriptor events(epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int descriptor, std::uint64_t name) {
        epoll_event event{.events = EPOLLIN, .data = {.u64 = name}};
        epoll_ctl(events.get(), EPOLL_CTL_ADD, descriptor, &event);
    };
    watch(finish_.get(), finish_event);
    for (std::size_t i = 0; i < sources_.size(); ++i) watch(sources_[i].pipe.get(), i);
    for (;;) {
        std::array<epoll_event, 64> ready;
        const int count = epoll_wait(events.get(), ready.data(), static_cast<int>(ready.size()), -1);
        for (int i = 0; i < count; ++i) {
            if (ready[i].data.u64 == finish_event) {
                for (Source& source : sources_) drain(source);
                return;
            }
            Source& source = sources_[ready[i].data.u64];
            std::string out;
            const bool more = source.pipe && read_from(source, out);
            write_to(source.target, out);
            if (!more) close_source(source);
        }
    }
}

/// Reads once, and appends the lines that are complete; false when the source has ended.
bool Labels::read_from(Source& source, std::string& out) {
    std::array<char, chunk> buffer;
    const ssize_t bytes = read(source.pipe.get(), buffer.data(), buffer.size());
    if (bytes < 0) return errno == EAGAIN || errno == EINTR;
    source.lines.add({buffer.data(), static_cast<std::size_t>(bytes)}, out);
    return bytes > 0;
}

/// Copies what is in the pipe now: nobody will write any more.
void Labels::drain(Source& source) {
    bool more = static_cast<bool>(source.pipe);
    while (more) {
        pollfd event{.fd = source.pipe.get(), .events = POLLIN, .revents = 0};
        more = poll(&event, 1, 0) > 0;
        std::string out;
        more = more && read_from(source, out);
        write_to(source.target, out);
    }
    close_source(source);
}

void Labels::close_source(Source& source) {
    std::string out;
    source.lines.finish(out);
    write_to(source.target, out);
    source.pipe.reset();
}

void Labels::write_to(int target, std::string_view text) {
    while (!text.empty() && !broken_[static_cast<std::size_t>(target)]) {
        const ssize_t bytes = write(target, text.data(), text.size());
        if (bytes >= 0) text.remove_prefix(static_cast<std::size_t>(bytes));
        else if (errno == EAGAIN) { // somebody else has made our terminal or pipe non-blocking
            pollfd event{.fd = target, .events = POLLOUT, .revents = 0};
            poll(&event, 1, -1);
        } else if (errno != EINTR) {
            // Nobody reads: the ranks shall notice it as they would without us, by SIGPIPE at their next line.
            broken_[static_cast<std::size_t>(target)] = true;
            for (Source& source : sources_)
                if (source.target == target) source.pipe.reset();
        }
    }
}

} // namespace kumiki::launch
