#include "openmp/ranks/process/remote_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <stdio_ext.h>
#include <utility>

#include "openmp/ranks/process/stream_places.hpp"
#include "openmp/ranks/process/streams.hpp"
#include "platform/thread.hpp"

namespace kumiki::openmp {
namespace {

using What = FileCalls::What;

/// How much is read ahead: at first what one message carries, then twice as much each time.
constexpr std::size_t least_ahead = 400, most_ahead = std::size_t{64} << 10;

/// What is read by one call at most, bytes.
constexpr std::size_t longest_call = std::size_t{4} << 20;

/// What the C library has read and the program has not: the stream is not buffered, but a byte may have been put back.
std::size_t unread_in(const std::FILE& stream) {
    return __freading(const_cast<std::FILE*>(&stream)) == 0
               ? 0
               : static_cast<std::size_t>(stream._IO_read_end - stream._IO_read_ptr);
}

/// Copies to memory in pieces, from so many bytes behind its beginning on.
void copy_to(std::span<const iovec> pieces, std::size_t offset, std::string_view data) {
    for (const iovec& piece : pieces) {
        if (offset < piece.iov_len && !data.empty()) {
            const std::size_t now = std::min(piece.iov_len - offset, data.size());
            std::memcpy(static_cast<char*>(piece.iov_base) + offset, data.data(), now);
            data.remove_prefix(now);
            offset += now;
        }
        offset -= std::min(offset, piece.iov_len);
    }
}

FileCalls::Request request_for(What what, std::size_t place) {
    return {.what = what, .is_stream = true, .file = static_cast<std::int64_t>(place)};
}

} // namespace

RemoteFiles::RemoteFiles(Streams& streams, FileCalls& calls)
    : streams_(streams), calls_(calls), ahead_(std::make_unique<Ahead[]>(the_places.all.size())) {}

/// What this process has written to the file before comes before it. A call that succeeds leaves errno as it was.
FileCalls::Answer RemoteFiles::make(int owner, const FileCalls::Request& request) {
    const int before = errno;
    streams_.pass_on();
    auto answer = calls_.make(owner, request);
    errno = answer.result < 0 ? answer.error : before;
    return answer;
}

// -- streams --

ssize_t RemoteFiles::read(std::size_t place, char* to, std::size_t bytes) {
    Ahead& ahead = ahead_[place];
    if (ahead.unread() == 0) {
        auto request = request_for(What::read, place);
        ahead.wanted = std::clamp(ahead.wanted, least_ahead, most_ahead);
        request.bytes = std::clamp(bytes, std::exchange(ahead.wanted, 2 * ahead.wanted), longest_call);
        auto answer = make(Streams::owner_of(place), request);
        ahead.has_lease = answer.result > 0;
        ahead.is_read.store(true); // also if it is at its end
        any_.store(true);
        if (answer.result <= 0) return static_cast<ssize_t>(answer.result);
        ahead.data = std::move(answer.data);
        ahead.used = 0;
        note_lease();
    }
    const std::size_t now = std::min(bytes, ahead.unread());
    std::memcpy(to, ahead.data.data() + ahead.used, now);
    ahead.used += now;
    ahead.taken += now;
    return static_cast<ssize_t>(now);
}

/// What was used since the last time is read at once the next time.
void RemoteFiles::forget(Ahead& ahead) {
    ahead.wanted = std::exchange(ahead.taken, 0);
    ahead.data.clear();
    ahead.used = 0;
    ahead.has_lease = false;
}

int RemoteFiles::move(std::size_t place, off64_t& offset, int whence) {
    Ahead& ahead = ahead_[place];
    auto request = request_for(What::move, place);
    request.offset = offset;
    request.whence = whence;
    request.unread = ahead.unread();
    forget(ahead);
    offset = make(Streams::owner_of(place), request).result;
    return offset < 0 ? -1 : 0;
}

int RemoteFiles::close(std::FILE* stream) {
    flockfile(stream);
    const std::size_t place = the_places.number(stream);
    forget(ahead_[place]);
    __fpurge(stream);
    clearerr_unlocked(stream);
    const auto answer = make(Streams::owner_of(place), request_for(What::close, place));
    funlockfile(stream);
    return static_cast<int>(answer.result);
}

void RemoteFiles::give_back(std::size_t place) {
    Ahead& ahead = ahead_[place];
    std::FILE* const stream = the_places.stream(place);
    const std::size_t in_stream = unread_in(*stream);
    if (!ahead.has_lease && in_stream == 0) return;
    auto request = request_for(What::move, place);
    request.offset = 0;
    request.whence = SEEK_CUR;
    request.unread = ahead.unread() + in_stream;
    if (in_stream > 0) __fpurge(stream);
    forget(ahead);
    make(Streams::owner_of(place), request); // a pipe has no offset to return, but takes it back
}

bool RemoteFiles::give_all_back() {
    bool is_all = true;
    for (std::size_t place = 0; place < the_places.all.size(); ++place) {
        if (!ahead_[place].is_read.load(std::memory_order_relaxed)) continue;
        std::FILE* const stream = the_places.stream(place);
        if (ftrylockfile(stream) != 0) {
            is_all = false;
            continue;
        }
        give_back(place);
        funlockfile(stream);
    }
    return is_all;
}

void RemoteFiles::note_lease() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
        auto started = platform::start_worker("gives back files of other ranks",
                                              [this](const std::stop_token& stop) { serve(stop); });
        if (!started) return; // then they are given back when this process meets others
        thread_ = std::move(*started);
    }
    has_leases_ = true;
    changed_.notify_one();
}

/// Others wait no longer than this for a thread that reads a stream again and again, or not any more.
void RemoteFiles::serve(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds longest_lease(1);
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [this] { return std::exchange(has_leases_, false); })) return;
            changed_.wait_for(lock, stop, longest_lease, [] { return false; });
            if (stop.stop_requested()) return;
        }
        if (!give_all_back()) note_lease();
    }
}

void RemoteFiles::forget_ends() {
    if (!any_.load(std::memory_order_relaxed)) return;
    any_.store(false);
    for (std::size_t place = 0; place < the_places.all.size(); ++place) {
        Ahead& ahead = ahead_[place];
        if (ahead.has_lease) any_.store(true); // of a thread of the program's own
        else if (ahead.is_read.exchange(false)) std::clearerr(the_places.stream(place));
    }
}

// -- descriptors --

/// What is long comes by several calls, as long as each gets all that it has asked for.
ssize_t RemoteFiles::read(int file, std::span<const iovec> to, std::optional<off64_t> at) {
    const auto owner = Streams::owner_of(file);
    if (!owner) return -1;
    std::size_t bytes = 0, done = 0;
    for (const iovec& piece : to) bytes += piece.iov_len;
    for (bool is_short = false; !is_short;) {
        FileCalls::Request request{.what = What::read, .file = file};
        if (at) request.offset = *at + static_cast<off64_t>(done);
        request.bytes = std::min(bytes - done, longest_call);
        const auto answer = make(*owner, request);
        if (answer.result < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
        copy_to(to, done, answer.data);
        done += answer.data.size();
        is_short = done == bytes || answer.data.size() < request.bytes;
    }
    return static_cast<ssize_t>(done);
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
