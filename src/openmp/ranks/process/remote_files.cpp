#include "openmp/ranks/process/remote_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdio_ext.h>

#include "openmp/ranks/process/stream_places.hpp"
#include "openmp/ranks/process/streams.hpp"

namespace kumiki::openmp {
namespace {

using What = FileCalls::What;

/// How much is read ahead: at first what one message carries, then twice as much each time.
constexpr std::size_t least_ahead = 400, most_ahead = std::size_t{64} << 10;

class StreamLock {
public:
    explicit StreamLock(std::FILE* stream) : stream_(stream) { flockfile(stream); }
    ~StreamLock() { funlockfile(stream_); }
    StreamLock(const StreamLock&) = delete;
    StreamLock& operator=(const StreamLock&) = delete;

private:
    std::FILE* const stream_;
};

/// What the C library has read and the program has not: the stream is not buffered, but a byte may have been put back.
std::size_t unread_in(const std::FILE& stream) {
    return __freading(const_cast<std::FILE*>(&stream)) == 0
               ? 0
               : static_cast<std::size_t>(stream._IO_read_end - stream._IO_read_ptr);
}

FileCalls::Request request_for(What what, std::size_t place) {
    return {.what = what, .is_stream = true, .file = static_cast<std::int64_t>(place)};
}

} // namespace

RemoteFiles::RemoteFiles(Streams& streams, FileCalls& calls)
    : streams_(streams), calls_(calls), ahead_(std::make_unique<Ahead[]>(the_places.all.size())) {}

/// What this process has written to the file before comes before it.
FileCalls::Answer RemoteFiles::make(int owner, const FileCalls::Request& request) {
    streams_.pass_on();
    auto answer = calls_.make(owner, request);
    if (answer.result < 0) errno = answer.error;
    return answer;
}

// -- streams --

ssize_t RemoteFiles::read(std::size_t place, char* to, std::size_t bytes) {
    Ahead& ahead = ahead_[place];
    if (ahead.unread() == 0) {
        auto request = request_for(What::read, place);
        ahead.wanted = std::clamp(ahead.wanted, least_ahead, most_ahead);
        request.bytes = std::max(bytes, std::exchange(ahead.wanted, 2 * ahead.wanted));
        auto answer = make(Streams::owner_of(place), request);
        ahead.is_read.store(true); // also if it is at its end
        any_.store(true);
        if (answer.result <= 0) return static_cast<ssize_t>(answer.result);
        ahead.data = std::move(answer.data);
        ahead.used = 0;
    }
    const std::size_t now = std::min(bytes, ahead.unread());
    std::memcpy(to, ahead.data.data() + ahead.used, now);
    ahead.used += now;
    ahead.taken += now;
    return static_cast<ssize_t>(now);
}

int RemoteFiles::move(std::size_t place, off64_t& offset, int whence) {
    Ahead& ahead = ahead_[place];
    auto request = request_for(What::move, place);
    request.offset = offset;
    request.whence = whence;
    request.unread = ahead.unread();
    ahead.data.clear();
    ahead.used = 0;
    offset = make(Streams::owner_of(place), request).result;
    return offset < 0 ? -1 : 0;
}

int RemoteFiles::close(std::FILE* stream) {
    const StreamLock lock(stream);
    const std::size_t place = the_places.number(stream);
    ahead_[place].data.clear();
    ahead_[place].used = 0;
    __fpurge(stream);
    clearerr_unlocked(stream);
    return static_cast<int>(make(Streams::owner_of(place), request_for(What::close, place)).result);
}

/// What was used since the last time is read at once the next time.
void RemoteFiles::give_back(std::size_t place) {
    Ahead& ahead = ahead_[place];
    std::FILE* const stream = the_places.stream(place);
    const StreamLock lock(stream);
    const std::size_t in_stream = unread_in(*stream);
    const std::size_t unread = ahead.unread() + in_stream;
    ahead.wanted = std::exchange(ahead.taken, 0);
    if (unread == 0) return;
    if (in_stream > 0) __fpurge(stream);
    auto request = request_for(What::move, place);
    request.offset = 0;
    request.whence = SEEK_CUR;
    request.unread = unread;
    ahead.data.clear();
    ahead.used = 0;
    make(Streams::owner_of(place), request); // a pipe has no offset to return, but takes it back
}

void RemoteFiles::give_all_back() {
    for (std::size_t place = 0; place < the_places.all.size(); ++place)
        if (ahead_[place].is_read.load(std::memory_order_relaxed)) give_back(place);
}

void RemoteFiles::forget_ends() {
    if (!any_.exchange(false)) return;
    for (std::size_t place = 0; place < the_places.all.size(); ++place)
        if (ahead_[place].is_read.exchange(false)) std::clearerr(the_places.stream(place));
}

// -- descriptors --

ssize_t RemoteFiles::read(int file, std::span<const iovec> to, std::optional<off64_t> at) {
    constexpr std::size_t most = std::size_t{1} << 30;
    const auto owner = Streams::owner_of(file);
    if (!owner) return -1;
    FileCalls::Request request{.what = What::read, .file = file, .offset = at.value_or(-1)};
    for (const iovec& piece : to) request.bytes += piece.iov_len;
    request.bytes = std::min<std::uint64_t>(request.bytes, most);
    const auto answer = make(*owner, request);
    std::string_view left = answer.data;
    for (const iovec& piece : to) {
        const std::size_t now = std::min(piece.iov_len, left.size());
        if (now > 0) std::memcpy(piece.iov_base, left.data(), now);
        left.remove_prefix(now);
    }
    return static_cast<ssize_t>(answer.result);
}

off64_t RemoteFiles::move(int file, off64_t offset, int whence) {
    const auto owner = Streams::owner_of(file);
    if (!owner) return -1;
    return make(*owner, {.what = What::move, .whence = whence, .file = file, .offset = offset}).result;
}

int RemoteFiles::describe(int file, struct stat& status) {
    const auto owner = Streams::owner_of(file);
    if (!owner) return -1;
    const auto answer = make(*owner, {.what = What::describe, .file = file});
    if (answer.data.size() == sizeof status) std::memcpy(&status, answer.data.data(), sizeof status);
    return static_cast<int>(answer.result);
}

int RemoteFiles::close(int file) {
    const auto owner = Streams::owner_of(file);
    if (!owner) return -1;
    return static_cast<int>(make(*owner, {.what = What::close, .file = file}).result);
}

} // namespace kumiki::openmp
