#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launch/descriptor.hpp"
#include "launch/events.hpp"
#include "launch/message.hpp"

namespace kumiki::launch {

/// Messages both ways over two descriptors. Sending never waits: what the other side does not take yet is kept.
class Channel {
public:
    using OnFrame = std::function<void(const Frame&)>;
    using OnEnd = std::function<void()>;

    /// With `greeted` false, what comes before the greeting is skipped.
    Channel(Descriptor input, Descriptor output, bool greeted);

    template <class Message>
    void send(const Message& message) {
        send_bytes(wire_form(as_frame(message)));
    }
    void send_bytes(std::string_view bytes);

    /// From now on `events` calls `on_frame` for each frame, and `on_end` once when the other side is gone or does not
    /// speak our protocol. The channel must stay where it is.
    void attach(Events& events, OnFrame on_frame, OnEnd on_end);
    /// Reads what has come, and calls as promised.
    void receive();
    /// Waits for a frame; nothing when the other side is gone. For channels that are not attached.
    std::optional<Frame> wait_for_frame();
    /// Waits until everything is written; false when the other side is gone.
    bool wait_until_written();
    void close();

    bool is_open() const { return static_cast<bool>(input_); }
    bool greeted() const { return reader_.greeted(); }

private:
    enum class Input { more, nothing_now, ended };
    Input read_some();
    bool write_some();
    void end();

    Descriptor input_, output_;
    FrameReader reader_;
    std::string unsent_;
    Events* events_ = nullptr;
    OnFrame on_frame_;
    OnEnd on_end_;
};

} // namespace kumiki::launch
