#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launch/system/descriptor.hpp"
#include "launch/system/events.hpp"
#include "launch/protocol/message.hpp"

namespace kumiki::launch {

/// Messages both ways over two descriptors. Sending never waits: what the other side does not take yet is kept.
class Channel {
public:
    using OnFrame = std::function<void(const Frame&)>;
    using OnEnd = std::function<void()>;
    using Clock = Events::Clock;

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
    /// Waits for a frame, and writes what is still to be written; nothing when the other side is gone, or silent until
    /// then. For channels that are not attached.
    std::optional<Frame> wait_for_frame(Clock::time_point until);
    /// Waits until everything is written, the other side is gone, or that time has come.
    void wait_until_written(Clock::time_point until);
    void close();

    /// What the other side has said, or what has ended the channel when it does not speak our protocol.
    const FrameReader& reader() const { return reader_; }

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
