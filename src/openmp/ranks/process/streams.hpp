#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <sys/uio.h>
#include <vector>

#include "openmp/ranks/process/remote_files.hpp"

namespace kumiki::openmp {

class Ranks;

/// The streams (FILE) that the program opens. A stream belongs to the process that has opened it, but the program may
/// give its address to threads of all processes. Therefore streams lie at places that all processes have at the same
/// address, and at each place of another process there is one that keeps what is written to it until this process
/// releases a lock or meets the others. The owner then writes it to the file. For other uses the owner is asked
/// (RemoteFiles). File streams of C++ have such a stream. What is written to a descriptor of another process goes the
/// same way.
///
/// What is on its way is in blocks of the program's heap, one list for each owner, guarded by a lock of the shared
/// memory (Ranks::stream_lock).
class Streams {
public:
    /// What has been written for the streams of a process; in memory that all see.
    struct Inbox {
        struct Block* first;
        struct Block* last;
    };

    /// `inboxes`: zeros, by rank.
    Streams(Ranks& ranks, std::span<Inbox*> inboxes, FileCalls& calls);

    /// Opens a stream for the program by calling open().
    template <class Open>
    static std::FILE* open(Open open);
    /// Memory for the C library, which is opening a stream in this thread; null: it is not.
    static void* memory_for_stream(std::size_t bytes);
    /// Whether this memory was given by that function; if so, it is free again.
    static bool release(const void* memory);
    /// Whether it lies at such a place, so that other processes can write to it.
    static bool has_place(const std::FILE* stream);
    /// Whether this is a stream, or a descriptor, of another process.
    static bool is_elsewhere(const std::FILE* stream);
    static bool is_elsewhere(int file) { return file_elsewhere(file, {}).has_value(); }
    /// Whether this process has opened a stream at this place.
    static bool is_open(std::size_t place);
    static int owner_of(std::size_t place);
    /// The other process to which a descriptor belongs. None, with EBADF: it is no other process's.
    static std::optional<int> owner_of(int file);
    /// Null in a program that runs as one process.
    static RemoteFiles* remote_files();

    /// The descriptor of a stream of another process, with which a program can only write.
    static int descriptor_of(const std::FILE* stream);
    /// Keeps what a thread writes to a descriptor which no file of this process has: one of another process, or of its
    /// stream; `at` this offset, or where that file is. Returns how many bytes, or -1, with EBADF, if it is neither.
    static ssize_t write(int file, std::span<const iovec> from, std::optional<off64_t> at = {});

    /// Lets the owners have what has been written here, and what has been read and not used.
    void release() {
        remote_files_.give_back();
        pass_on();
    }
    /// Only what has been written.
    void pass_on() {
        if (has_pieces_.load(std::memory_order_acquire)) pass_on_pieces();
    }
    /// Writes what others have passed on.
    void take_in() {
        if (std::atomic_ref(own_.first).load(std::memory_order_relaxed) != nullptr) take_in_blocks();
    }
    /// The same, for a thread that must not wait. Returns whether all that had been passed on is written: another
    /// thread may be doing so.
    bool try_take_in();

private:
    friend struct Block;
    /// A stream, or a descriptor.
    struct File {
        int owner;
        std::size_t place; ///< of a stream
        int descriptor = no_descriptor;
        std::optional<off64_t> at{};
        /// Whether text for `next` continues this many bytes of text for this file.
        bool goes_on_as(const File& next, std::size_t bytes) const;
    };
    static constexpr int no_descriptor = -1;
    struct Piece {
        File to;
        std::string text;
    };
    static std::optional<File> file_elsewhere(int file, std::optional<off64_t> at);
    void keep(const File& to, std::string text);
    void write_here(const File& to, const std::string& text);
    static void begin_opening();
    static std::FILE* end_opening(std::FILE* stream);
    static void stand_in(std::size_t place);
    void pass_on_pieces();
    void take_in_blocks();

    Ranks& ranks_;
    std::vector<Inbox*> inboxes_;
    Inbox& own_;
    RemoteFiles remote_files_;
    std::recursive_mutex taking_in_; ///< held until it is written; a stream may be of functions of the program
    std::mutex passing_on_;          ///< held until the owners have it
    std::mutex mutex_;               ///< guards the pieces
    std::vector<Piece> pieces_;
    std::atomic<bool> has_pieces_{false}; ///< or some are being passed on
};

template <class Open>
std::FILE* Streams::open(Open open) {
    begin_opening();
    return end_opening(open());
}

} // namespace kumiki::openmp
