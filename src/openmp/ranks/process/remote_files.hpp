#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <sys/stat.h>
#include <sys/uio.h>
#include <thread>

#include "openmp/ranks/process/file_calls.hpp"

namespace kumiki::openmp {

class Streams;

/// Files of other processes, as this one reads, moves and closes them: their owners do it. A stream is read ahead,
/// which keeps it from others (OwnFiles). So what has not been used is given back when this process releases a lock or
/// meets others, as they may want to read then, and otherwise after a moment.
class RemoteFiles {
public:
    RemoteFiles(Streams& streams, FileCalls& calls);
    /// Before the owners end.
    void end() { thread_ = {}; }

    /// What the C library asks for the stream that stands for one of another process, by its place (StreamPlaces). It
    /// holds the lock of the stream.
    ssize_t read(std::size_t place, char* to, std::size_t bytes);
    int move(std::size_t place, off64_t& offset, int whence);
    /// fclose(): the stream stays here, for the next one that its owner opens.
    int close(std::FILE* stream);
    /// Gives back what has not been used of this stream, whose lock the thread has.
    void give_back(std::size_t place);
    /// The same of all that are not in use.
    void give_back() {
        if (any_.load(std::memory_order_relaxed)) give_all_back();
    }
    /// Streams that had come to their ends may have been moved, or opened again.
    void forget_ends();

    /// Calls for a descriptor, which fail (EBADF) if it is no other process's either.
    ssize_t read(int file, std::span<const iovec> to, std::optional<off64_t> at);
    off64_t move(int file, off64_t offset, int whence);
    int describe(int file, struct stat& status);
    int close(int file);

private:
    /// What has been read of a stream. Guarded by the stream's lock.
    struct Ahead {
        std::string data;
        std::size_t used = 0;   ///< bytes of the data
        std::size_t taken = 0;  ///< bytes since something was given back
        std::size_t wanted = 0; ///< bytes to read next
        std::atomic<bool> has_lease{false};
        std::atomic<bool> is_read{false}; ///< since the last forget_ends()
        std::size_t unread() const { return data.size() - used; }
    };
    void forget(Ahead& ahead);
    /// Returns false if some are in use.
    bool give_all_back();
    void note_lease();
    void serve(const std::stop_token& stop);
    FileCalls::Answer make(int owner, const FileCalls::Request& request);

    Streams& streams_;
    FileCalls& calls_;
    std::unique_ptr<Ahead[]> ahead_; ///< by place
    std::atomic<bool> any_{false};   ///< a stream has been read
    std::mutex mutex_;               ///< guards what follows
    std::condition_variable_any changed_;
    bool has_leases_ = false;
    std::jthread thread_; ///< started when it is needed first
};

} // namespace kumiki::openmp
