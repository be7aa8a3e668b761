#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "launch/protocol/channel.hpp"
#include "launch/protocol/message.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// The launcher's standard input, read piece by piece as the reader far away takes it.
class InputSource {
public:
    /// Receives each piece; an empty one is the end.
    using OnInput = std::function<void(std::string)>;

    void start(Events& events, OnInput on_input);
    /// The reader has taken so many bytes.
    void written(std::size_t bytes);
    /// The reader does not read any more.
    void stop();
    /// This process was stopped, and may be in the foreground of its terminal again.
    void look_again();

private:
    void watch();
    void read_some();
    Events* events_ = nullptr; ///< null: not started, or at the end
    OnInput on_input_;
    std::size_t window_ = stream_window;
};

/// Hands what the front reads from its standard input to rank 0.
class InputRelay {
public:
    explicit InputRelay(Channel& channel) : channel_(channel) {}

    /// The reading end for the rank; empty when the system has no descriptors left (errno tells).
    Descriptor open();
    void attach(Events& events) { events_ = &events; }
    /// More input; an empty text is its end.
    void add(std::string_view text);

private:
    void write_some();
    void close();

    Channel& channel_;
    Events* events_ = nullptr;
    Descriptor pipe_;
    std::string waiting_;
    bool at_end_ = false;
};

} // namespace kumiki::launch
