#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kumiki::trace {

/// The file of a trace: a JSON object of the Trace Event Format, to whose events all ranks add. Each rank replaces the
/// file as a whole, so it is valid JSON at every moment, whichever rank dies.
class File {
public:
    /// `start` is the zero of times in a file that this object creates, in ns since the epoch.
    File(std::string path, std::int64_t start) : path_(std::move(path)), start_(start) {}

    /// Creates the file anew, without events. Returns false, with errno, when it cannot be written.
    bool begin() const;
    /// Adds the text that events(start) returns: one event or more, separated by commas. `start` is the zero of times
    /// that the file states. Other ranks may add at the same time. If the file is missing or not a trace of Kumiki, it
    /// is created (hosts may not share a file system). Events that cannot be written are lost without a message.
    void add(const std::function<std::string(std::int64_t start)>& events) const;

private:
    std::string path_;
    std::int64_t start_;
};

/// A time in us, as the format requires, with the ns as decimals.
std::string microseconds(std::int64_t ns);

/// The text as a JSON string, with its quotes; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

} // namespace kumiki::trace
