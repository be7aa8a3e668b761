#pragma once

#include <functional>
#include <string>

#include "launch/events.hpp"
#include "launch/message.hpp"

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

} // namespace kumiki::launch
