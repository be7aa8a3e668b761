#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "bench/message/loops.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// Messages of this library between the two ranks of a job.
class KumikiTalk {
public:
    explicit KumikiTalk(Job& job) : job_(job), requests_(messages_of_a_window) { need_two_ranks(job); }

    int rank() const { return job_.rank(); }
    void settle() {}
    void send(const void* data, std::size_t bytes) { job_.send(other(), 0, bytes_at(data, bytes)).wait(); }
    void receive(void* into, std::size_t bytes) { job_.receive(other(), 0, room_at(into, bytes)).wait(); }
    void send_many(std::span<const std::uint64_t> words) {
        for (std::size_t i = 0; i < words.size(); ++i) requests_[i] = job_.send(other(), 0, words[i]);
        wait_all(std::span(requests_).first(words.size()));
    }
    void receive_many(std::span<std::uint64_t> room) {
        for (std::size_t i = 0; i < room.size(); ++i) requests_[i] = job_.receive(other(), 0, room[i]);
        wait_all(std::span(requests_).first(room.size()));
    }

    Request start_receive(std::span<std::byte> into) { return job_.receive(other(), 0, into); }
    static void finish(Request& request) { request.wait(); }

    /// Seconds until a short message sent after a long one has been answered, and until the long one has.
    std::pair<double, double> interleave(std::span<std::byte> data) {
        std::array<std::byte, 64> note{};
        if (rank() == 0) {
            const auto start = Clock::now();
            Request sent = job_.send(1, 1, data);
            Request noted = job_.send(1, 2, note);
            receive(note.data(), 1);
            const double first = seconds_since(start);
            receive(note.data(), 1);
            return {first, seconds_since(start)};
        }
        Request coming = job_.receive(0, 1, data);
        job_.receive(0, 2, note).wait();
        send(note.data(), 1);
        coming.wait();
        send(note.data(), 1);
        return {0, 1};
    }

private:
    static std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) {
        return {static_cast<const std::byte*>(data), bytes};
    }
    static std::span<std::byte> room_at(void* into, std::size_t bytes) {
        return {static_cast<std::byte*>(into), bytes};
    }
    int other() const { return 1 - job_.rank(); }

    Job& job_;
    std::vector<Request> requests_;
};

} // namespace kumiki::bench
