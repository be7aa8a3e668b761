#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "accelerator/channel.hpp"
#include "accelerator/device.hpp"
#include "accelerator/sockets.hpp"

namespace kumiki::accelerator {

/// A client, at the server: one thread hands its requests to the device, another one tells it of results. Each slot has
/// a stream of its own, so that what is under way overlaps.
class Session {
public:
    /// Throws DeviceError when the device has too little memory.
    Session(Device& device, File socket, File file);
    ~Session();

    /// Whether the client has left; then the session may be ended.
    bool over() const { return peer_has_left(socket_); }

private:
    struct Slot {
        std::unique_ptr<Memory> right, result;
        std::unique_ptr<Stream> stream;
    };
    struct UnderWay {
        std::size_t slot;
        std::shared_ptr<Event> event;
    };

    Channel& channel() const { return *static_cast<Channel*>(memory_.data()); }
    void take_requests(const std::stop_token& stop);
    void tell_results(const std::stop_token& stop);
    /// Throws DeviceError.
    std::shared_ptr<Event> begin(const Request& request, std::size_t slot);
    void bring_left(const Request& request);
    void fail(std::size_t slot, const std::string& sentence);

    Device& device_;
    File socket_, file_;
    Shared memory_;
    Room room_;
    std::unique_ptr<Memory> left_;
    std::unique_ptr<Stream> left_stream_;
    std::shared_ptr<Event> left_there_;
    std::uint64_t version_ = 0;
    std::array<Slot, Channel::slots> slots_;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<UnderWay> under_way_;
    std::jthread results_, requests_;
};

} // namespace kumiki::accelerator
