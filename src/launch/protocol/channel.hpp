#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launch/protocol/message.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// Messages in both directions over two descriptors. Sending never waits: the channel keeps what the other side does
/// not accept yet.
class Channel {
public:
    using OnFrame = std::function<void(const Frame&)>;
    using OnEnd = std::function<void()>;
    using Clock = Events::Clock;

    /// With `greeted` false the channel skips everything before the greeting.
    Channel(platform::Descriptor input, platform::Descriptor output, bool greeted);

    template <class Message>
    void send(const Message& message) {
        send_bytes(wire_form(as_frame(message)));
    }
    void send_bytes(std::string_view bytes);

    /// From now on `events` calls `on_frame` for each frame, and `on_end` once when the other side is gone or does not
    /// use this protocol. The channel must not be moved afterwards.
    void attach(Events& events, OnFrame on_frame, OnEnd on_end);
    /// Reads what has arrived, and makes the calls that attach() promises.
    void receive();
    /// Waits for a frame, and meanwhile writes what is unsent. Returns nothing when the other side is gone or has been
    /// silent until `until`. For channels that are not attached.
    std::optional<Frame> wait_for_frame(Clock::time_point until);
    /// Waits until everything is written, the other side is gone, or it is `until`.
    void wait_until_written(Clock::time_point until);
    void close();

    /// The data from the other side that ended the channel, if it does not use this protocol.
    const FrameReader& reader() const { return reader_; }

private:
    enum class Input { more, nothing_now, ended };
    Input read_some();
    bool write_some();
    void end();

    platform::Descriptor input_, output_;
    FrameReader reader_;
    std::string unsent_;
    Events* events_ = nullptr;
    OnFrame on_frame_;
    OnEnd on_end_;
};

} // namespace kumiki::launch
