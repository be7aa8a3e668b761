#include "accelerator/session.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>

namespace kumiki::accelerator {

namespace {

/// Throws DeviceError when the file is not what a client makes.
std::size_t size_of(const File& file) {
    struct stat status{};
    if (fstat(file.get(), &status) != 0 || static_cast<std::size_t>(status.st_size) < sizeof(Channel))
        throw DeviceError("device server: a client's shared memory is not one");
    return static_cast<std::size_t>(status.st_size);
}

bool fits(const Request& request, const Room& room) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30; // so that no product of two lengths overflows
    const auto& [version, left_rows, first_row, right, rows, columns, depth] = request;
    return std::max({left_rows, first_row, rows, columns, depth}) < most && version != 0 &&
           first_row + rows <= left_rows && left_rows * depth <= room.left && right <= room.right &&
           depth * columns <= room.right - right && depth * columns <= room.part && rows * columns <= room.result;
}

} // namespace

Session::Session(Device& device, File socket, File file)
    : device_(device),
      socket_(std::move(socket)),
      file_(std::move(file)),
      memory_(file_, size_of(file_)),
      room_(channel().room),
      left_stream_(device.stream()) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (std::max({room_.left, room_.right, room_.part, room_.result}) > most || Channel::bytes(room_) != memory_.size())
        throw DeviceError("device server: a client's shared memory is not one");
    left_ = device.allocate(room_.left);
    for (Slot& slot : slots_) slot = {device.allocate(room_.part), device.allocate(room_.result), device.stream()};
    device_.pin(memory_.data(), memory_.size());
    results_ = std::jthread([this](const std::stop_token& stop) { tell_results(stop); });
    requests_ = std::jthread([this](const std::stop_token& stop) { take_requests(stop); });
}

Session::~Session() {
    requests_ = {};
    results_ = {}; // what is under way is waited for: the device uses this memory
    device_.unpin(memory_.data());
}

void Session::take_requests(const std::stop_token& stop) {
    for (std::uint64_t number = 0; !stop.stop_requested();) {
        if (!wait_for_a_while(channel().asked)) {
            if (over()) return;
            continue;
        }
        const std::size_t slot = number++ % Channel::slots;
        try {
            const std::shared_ptr<Event> event = begin(channel().requests[slot], slot);
            const std::lock_guard lock(mutex_);
            under_way_.push_back({slot, event});
            changed_.notify_one();
        } catch (const std::exception& error) { // of the device, or too little memory: other clients are served
            fail(slot, error.what());
        }
    }
}

std::shared_ptr<Event> Session::begin(const Request& request, std::size_t slot) {
    if (!fits(request, room_)) throw DeviceError("device server: a client asked for a product that is not in its room");
    auto& [right, result, stream] = slots_[slot];
    bring_left(request);
    const Extent right_extent{request.depth, request.columns}, result_extent{request.rows, request.columns};
    const Place right_place{right.get(), 0, request.columns}, result_place{result.get(), 0, request.columns};
    stream->copy_in(channel().right() + request.right, request.columns, right_extent, right_place);
    stream->wait_for(left_there_);
    stream->multiply({request.rows,
                      request.columns,
                      request.depth,
                      1,
                      {left_.get(), request.first_row * request.depth, request.depth},
                      right_place,
                      0,
                      result_place});
    stream->copy_out(result_place, result_extent, channel().result(slot), request.columns);
    return stream->record();
}

/// The client has all results of products with the left operand that is there, so nobody reads it any more.
void Session::bring_left(const Request& request) {
    if (request.version == version_) return;
    left_stream_->copy_in(channel().left(), request.depth, {request.left_rows, request.depth},
                          {left_.get(), 0, request.depth});
    left_there_ = left_stream_->record();
    version_ = request.version;
}

void Session::tell_results(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, stop, [&] { return !under_way_.empty(); });
        if (under_way_.empty()) return;
        const UnderWay oldest = std::move(under_way_.front());
        under_way_.pop_front();
        lock.unlock();
        try {
            oldest.event->wait();
            sem_post(&channel().done[oldest.slot]);
        } catch (const std::exception& error) {
            fail(oldest.slot, error.what());
        }
        lock.lock();
    }
}

void Session::fail(std::size_t slot, const std::string& sentence) {
    {
        const std::lock_guard one_at_a_time(mutex_);
        if (!channel().failed.load(std::memory_order_relaxed)) {
            const std::size_t length = std::min(sentence.size(), channel().failure.size() - 1);
            std::copy_n(sentence.begin(), length, channel().failure.begin());
            channel().failed.store(true, std::memory_order_release); // after the sentence
        }
    }
    sem_post(&channel().done[slot]);
}

} // namespace kumiki::accelerator
