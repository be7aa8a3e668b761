#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kumiki::trace {

/// The file of a trace: a JSON object of the Trace Event Format, to whose events all ranks add. It is replaced as a
/// whole each time, so that it is valid JSON at every moment, whichever rank dies.
class File {
public:
    /// `start` is the zero of the times in a file that this object begins, in ns since the epoch.
    File(std::string path, std::int64_t start) : path_(std::move(path)), start_(start) {}

    /// Begins the file anew, without events. Returns false, with errno, when it cannot be written.
    bool begin() const;
    /// Adds the text that events(start) returns: one event or more, with commas between. `start` is the zero of times
    /// that the file names. Other ranks add at the same time. A file that is missing, or is no trace of ours, is begun
    /// (hosts may share no file system). Events that cannot be written are lost without a message.
    void add(const std::function<std::string(std::int64_t start)>& events) const;

private:
    std::string path_;
    std::int64_t start_;
};

/// The time in us, as the format wants it, with the ns as decimals.
std::string microseconds(std::int64_t ns);

/// The text as a JSON string, with its quotes; what is no UTF-8 is replaced.
std::string json_string(std::string_view text);

} // namespace kumiki::trace
