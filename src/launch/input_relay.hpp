#pragma once

#include <string>
#include <string_view>

#include "launch/channel.hpp"

namespace kumiki::launch {

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
