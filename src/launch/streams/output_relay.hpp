#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "launch/protocol/message.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// Passes on the output of the ranks of this host. When the other side cannot write it, the relay stops reading, and
/// the ranks wait in their own writes, as they would without a launcher in between.
///
/// A rank that is about to let others go on may ask for the place of what it has printed before: it writes a mark, one
/// byte, to a socket, and waits for one, which comes when its output is before all that others print from then on.
class OutputRelay {
public:
    using OnOutput = std::function<void(Bytes)>;
    /// All that a rank had printed before its mark has been passed on; answered by mark_passed().
    using OnMark = std::function<void(Mark)>;
    /// What a rank gets: the writing ends of its streams; and if it may ask, its end of the socket for marks, and an
    /// epoll that is ready while there is output in its pipes.
    struct Ends {
        platform::Descriptor output, error, marks, unread;
    };

    /// `has_marks`: ranks may ask.
    OutputRelay(int first_rank, bool has_marks, OnOutput on_output, OnMark on_mark)
        : first_rank_(first_rank),
          has_marks_(has_marks),
          on_output_(std::move(on_output)),
          on_mark_(std::move(on_mark)) {}

    /// `is_read` becomes 1 before output of the rank is read, and 0 with its mark. Returns nothing if the system has no
    /// descriptors left (errno tells why).
    std::optional<Ends> open(int local_rank, std::atomic<std::uint32_t>& is_read);
    void attach(Events& events);
    /// The other side has written this many bytes.
    void written(int stream, std::uint64_t bytes);
    /// What a rank printed before its mark has its place.
    void mark_passed(const Mark& mark);
    /// The stream no longer has a reader: the ranks' next write to it must raise SIGPIPE.
    void closed(int stream);
    /// Called when all writers are gone: passes on what is still in the pipes.
    void finish();
    bool finished() const;

private:
    struct Source {
        platform::Descriptor pipe;
        int rank;
        int stream;
        std::atomic<std::uint32_t>* is_read;
    };
    struct Marker {
        platform::Descriptor socket;
        int rank;
        std::atomic<std::uint32_t>* is_read;
        bool waits = false; ///< for output that may not be passed on yet
    };
    bool open_marks(Ends& ends, std::span<const Source> sources);
    void watch(Source& source);
    bool read_from(Source& source);
    void read_mark(Marker& marker);
    void pass_mark_on(Marker& marker);
    bool pass_on_all_of(int rank);
    void close_source(Source& source);
    std::size_t& window(int stream) { return windows_[static_cast<std::size_t>(stream - 1)]; }

    int first_rank_;
    bool has_marks_;
    OnOutput on_output_;
    OnMark on_mark_;
    Events* events_ = nullptr;
    std::vector<Source> sources_;
    std::vector<Marker> markers_;
    std::array<std::size_t, 2> windows_{stream_window, stream_window}; ///< bytes that may still be passed on
    bool finishing_ = false;
};

} // namespace kumiki::launch
