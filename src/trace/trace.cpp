#include "trace/trace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

namespace kumiki::trace {
namespace {

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Appends as a whole: other ranks do so at the same time.
bool append(const std::string& path, std::string_view text, int flags = 0) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
    if (file < 0) return false;
    while (flock(file, LOCK_EX) < 0 && errno == EINTR) {}
    const bool written = write_all(file, text);
    const int error = errno;
    close(file);
    errno = error;
    return written;
}

/// In us, as the format wants it, with the nanoseconds as decimals.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

} // namespace

Result<std::unique_ptr<Trace>> Trace::open(const std::string& file, int rank, const std::string& host) {
    if (file.empty()) return nullptr;
    // The format lets the bracket open: whoever ends last need not know it.
    if (rank == 0 && !append(file, "[\n", O_TRUNC))
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot write the trace KUMIKI_TRACE={} ({}); name a file in "
                                                          "a folder that can be written",
                                                          file, std::strerror(errno)));
    return std::unique_ptr<Trace>(new Trace(file, rank, host));
}

Trace::~Trace() { append(file_, text()); }

void Trace::add(const Event& event) {
    const std::lock_guard lock(mutex_);
    if (events_.size() < most_events) events_.push_back(event);
    else ++left_out_;
}

std::string Trace::text() const {
    std::string lines;
    const auto line = [&lines]<class... Parts>(fmt::format_string<Parts...> format, Parts&&... parts) {
        fmt::format_to(std::back_inserter(lines), format, std::forward<Parts>(parts)...);
    };
    const std::string where = host_.empty() ? "" : " on " + host_;
    line("{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"args\":{{\"name\":\"rank {}{}\"}}}},\n", rank_, rank_,
         where);
    for (const Event& event : events_) {
        line("{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{", event.name, rank_,
             event.thread, microseconds(event.begin), microseconds(event.end - event.begin));
        if (event.rank >= 0) line("\"rank\":{}{}", event.rank, event.bytes > 0 ? "," : "");
        if (event.bytes > 0) line("\"bytes\":{}", event.bytes);
        lines += "}},\n";
    }
    if (left_out_ > 0)
        line("{{\"name\":\"{} further events are left "
             "out\",\"ph\":\"i\",\"s\":\"p\",\"pid\":{},\"tid\":{},\"ts\":{}}},\n",
             left_out_, rank_, events_.back().thread, microseconds(events_.back().end));
    return lines;
}

void Span::begin(const char* name, int rank, std::uint64_t bytes) { event_ = {name, now(), 0, gettid(), rank, bytes}; }

void Span::end() {
    event_.end = now();
    trace_->add(event_);
}

} // namespace kumiki::trace
