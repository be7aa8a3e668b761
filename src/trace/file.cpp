#include "trace/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>

#include "platform/descriptor.hpp"
#include "platform/write_all.hpp"

namespace kumiki::trace {
namespace {

constexpr std::string_view before_start = R"({"displayTimeUnit":"ns","otherData":{"start_ns":")";
constexpr std::string_view before_events = R"("},"traceEvents":[)";
constexpr std::string_view end = "\n]}\n";

std::string head(std::int64_t start) { return fmt::format("{}{}{}", before_start, start, before_events); }

std::string read_all(int file) {
    std::string text;
    struct stat status{};
    if (fstat(file, &status) == 0) text.resize(static_cast<std::size_t>(status.st_size));
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t bytes = pread(file, text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
        if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
        if (bytes > 0) filled += static_cast<std::size_t>(bytes);
    }
    text.resize(filled);
    return text;
}

bool lock(int file) {
    while (flock(file, LOCK_EX) < 0)
        if (errno != EINTR) return false;
    return true;
}

bool is_file(int file) {
    struct stat status{};
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

bool is_still(int file, const std::string& path) {
    struct stat opened{}, named{};
    return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/// The zero of times that the text of a file states; nothing if the file is not a trace of Kumiki.
std::optional<std::int64_t> start_of(std::string_view text) {
    if (!text.starts_with(before_start) || !text.ends_with(end)) return {};
    text.remove_prefix(before_start.size());
    std::int64_t start = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), start).ec != std::errc()) return {};
    return start;
}

/// Replaces the file by change(text of the file). Meanwhile it holds a lock on the file that has this name at that
/// moment, so that no rank adds to a file that another rank has replaced.
template <class Change>
bool replace(const std::string& name, Change change) {
    std::error_code ignored;
    const std::string path = std::filesystem::weakly_canonical(name, ignored).string(); // a link remains a link
    for (;;) {
        const platform::Descriptor old(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
        if (!old) return false;
        if (!is_file(old.get())) { // /dev/null must not be replaced
            errno = EINVAL;
            return false;
        }
        // Some file systems have no locks. Then other ranks are not kept out, but that is no reason to lose the trace.
        const bool locked = lock(old.get());
        if (locked && !is_still(old.get(), path)) continue;
        const std::string text = change(read_all(old.get()));
        const std::string part = path + ".part";
        const platform::Descriptor made(open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!made) return false;
        if (platform::write_all(made.get(), text) && rename(part.c_str(), path.c_str()) == 0) return true;
        const int error = errno;
        unlink(part.c_str());
        errno = error;
        return false;
    }
}

} // namespace

bool File::begin() const {
    return replace(path_, [this](const std::string&) { return head(start_) + std::string(end); });
}

void File::add(const std::function<std::string(std::int64_t)>& events) const {
    replace(path_, [&](std::string text) {
        const auto start = start_of(text);
        if (!start) return head(start_) + "\n" + events(start_) + std::string(end);
        text.resize(text.size() - end.size());
        text += text.ends_with("[") ? "\n" : ",\n";
        return text + events(*start) + std::string(end);
    });
}

std::string microseconds(std::int64_t ns) {
    const std::int64_t size = ns < 0 ? -ns : ns;
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace kumiki::trace
