#include "trace/trace.hpp"

#include <fmt/format.h>
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

} // namespace

Result<std::unique_ptr<Trace>> Trace::open(const std::string& file, int rank, const std::string& host) {
    if (file.empty()) return nullptr;
    // Other ranks may have begun an event a moment before the first rank gets here. Therefore times count from a second
    // earlier: they stay small and are hardly ever below 0.
    const std::int64_t second = 1'000'000'000;
    const File target(file, now() / second * second - second);
    if (rank == 0 && !target.begin())
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot write the trace KUMIKI_TRACE={} ({}); name a file in "
                                                          "a folder that can be written",
                                                          file, std::strerror(errno)));
    return std::unique_ptr<Trace>(new Trace(target, rank, host));
}

Trace::~Trace() {
    file_.add([this](std::int64_t start) { return text(start); });
}

void Trace::add(const Event& event) {
    const std::lock_guard lock(mutex_);
    if (events_.size() < most_events) events_.push_back(event);
    else ++left_out_;
}

std::string Trace::text(std::int64_t start) const {
    const std::string where = host_.empty() ? "" : " on " + host_;
    std::string lines = fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", rank_,
                                    json_string(fmt::format("rank {}{}", rank_, where)));
    const auto line = [&lines]<class... Parts>(fmt::format_string<Parts...> format, Parts&&... parts) {
        fmt::format_to(std::back_inserter(lines), format, std::forward<Parts>(parts)...);
    };
    for (const Event& event : events_) {
        line(",\n{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{", event.name,
             rank_, event.thread, microseconds(event.begin - start), microseconds(event.end - event.begin));
        if (event.rank >= 0) line("\"rank\":{}{}", event.rank, event.bytes > 0 ? "," : "");
        if (event.bytes > 0) line("\"bytes\":{}", event.bytes);
        lines += "}}";
    }
    if (left_out_ > 0)
        line(",\n{{\"name\":\"{} further events are left "
             "out\",\"ph\":\"i\",\"s\":\"p\",\"pid\":{},\"tid\":{},\"ts\":{}}}",
             left_out_, rank_, events_.back().thread, microseconds(events_.back().end - start));
    return lines;
}

void Span::begin(const char* name, int rank, std::uint64_t bytes) { event_ = {name, now(), 0, gettid(), rank, bytes}; }

void Span::end() {
    event_.end = now();
    trace_->add(event_);
}

} // namespace kumiki::trace
