#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kumiki::trace {

/// The file of a trace: a JSON object of the Trace Event Format, to whose events all ranks add. It is replaced as a
/// whole each time, so that it is valid JSON at every moment, whoever dies.
class File {
public:
    /// `start`: ns since the epoch, from which the times count in a file that is begun here.
    File(std::string path, std::int64_t start) : path_(std::move(path)), start_(start) {}

    /// Begins it anew, without events. False, with errno, when it cannot be written.
    bool begin() const;
    /// Adds events(start) -> text of one or more, with commas between; `start` is what the file says, which whoever has
    /// begun it has written. Others do so at the same time. A file that is not there, or is none of ours, is begun
    /// (hosts may share no file system). What cannot be written is lost without a word.
    void add(const std::function<std::string(std::int64_t start)>& events) const;

private:
    std::string path_;
    std::int64_t start_;
};

/// In us, as the format wants it, with the ns as decimals.
std::string microseconds(std::int64_t ns);

/// The text as a JSON string, with its quotes; what is no UTF-8 is replaced.
std::string json_string(std::string_view text);

} // namespace kumiki::trace
