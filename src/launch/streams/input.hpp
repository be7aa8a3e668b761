#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "launch/protocol/channel.hpp"
#include "launch/protocol/message.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// The launcher's standard input. It is read piece by piece, no faster than rank 0 reads it on its host.
class InputSource {
public:
    /// Receives each piece; an empty piece means the end.
    using OnInput = std::function<void(std::string)>;

    void start(Events& events, OnInput on_input);
    /// The reader has taken this many bytes.
    void written(std::size_t bytes);
    /// The reader no longer reads.
    void stop();
    /// Checks again whether input may be read: this process was stopped, and may now be in the foreground of its
    /// terminal.
    void look_again();

private:
    void watch();
    void read_some();
    Events* events_ = nullptr; ///< null: not started, or at the end
    OnInput on_input_;
    std::size_t window_ = stream_window;
};

/// Passes on to rank 0 the input that the controller reads.
class InputRelay {
public:
    explicit InputRelay(Channel& channel) : channel_(channel) {}

    /// Returns the reading end for the rank; empty if the system has no descriptors left (errno tells why).
    platform::Descriptor open();
    void attach(Events& events) { events_ = &events; }
    /// Accepts more input; an empty text means its end.
    void add(std::string_view text);

private:
    void write_some();
    void close();

    Channel& channel_;
    Events* events_ = nullptr;
    platform::Descriptor pipe_;
    std::string waiting_;
    bool at_end_ = false;
};

} // namespace kumiki::launch
