#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "launch/protocol/message.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// Passes on the output of the ranks of this host. When the other side cannot write it, the relay stops reading, and
/// the ranks wait in their own writes, as they would without a launcher in between.
class OutputRelay {
public:
    using OnOutput = std::function<void(Bytes)>;

    OutputRelay(int first_rank, OnOutput on_output) : first_rank_(first_rank), on_output_(std::move(on_output)) {}

    /// Returns the writing ends for stdout and stderr of a rank; nothing if the system has no descriptors left (errno
    /// tells why).
    std::optional<std::array<platform::Descriptor, 2>> open(int local_rank);
    void attach(Events& events);
    /// The other side has written this many bytes.
    void written(int stream, std::uint64_t bytes);
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
    };
    void watch(Source& source);
    bool read_from(Source& source);
    void close_source(Source& source);
    std::size_t& window(int stream) { return windows_[static_cast<std::size_t>(stream - 1)]; }

    int first_rank_;
    OnOutput on_output_;
    Events* events_ = nullptr;
    std::vector<Source> sources_;
    std::array<std::size_t, 2> windows_{stream_window, stream_window}; ///< bytes that may still be passed on
    bool finishing_ = false;
};

} // namespace kumiki::launch
