#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "collective/collectives.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::openmp {

/// Calls that threads make for files of other processes (Streams). Active messages carry what is asked, and what is
/// answered in pieces; a thread of the owner makes the calls, one after the other, because a file may keep it waiting.
class FileCalls {
public:
    enum class What : std::uint32_t { read, move, close, describe };
    struct Request {
        What what = What::read;
        std::int32_t whence = 0; ///< of a move
        bool is_stream = false;
        std::int64_t file = 0;    ///< a stream's place, or a descriptor
        std::int64_t offset = -1; ///< of a move; or where a descriptor is read, -1: where it is
        std::uint64_t bytes = 0;
        std::uint64_t unread = 0; ///< bytes that have been read of the stream and are given back first
    };
    struct Answer {
        std::int64_t result = -1;
        int error = 0; ///< errno, if the result is -1
        std::string data{};
    };
    /// Carries out what a rank asks for; nothing: the file is in use, so it must be tried again.
    using Make = std::function<std::optional<Answer>(int rank, const Request&)>;

    /// All ranks must begin() before one makes a call.
    FileCalls(fabric::Fabric& fabric, Make make) : fabric_(fabric), make_(std::move(make)) {}
    FileCalls(const FileCalls&) = delete;
    FileCalls& operator=(const FileCalls&) = delete;
    Result<> begin(collective::Collectives& collectives);
    /// Nobody asks any more.
    void end();

    /// Lets the owner make a call, and waits for its answer.
    Answer make(int owner, const Request& request);

private:
    struct Ask {
        std::uint64_t number; ///< of the call, at the rank that asks
        Request request;
    };
    struct Asked {
        int rank;
        Ask ask;
    };
    /// Before each piece of an answer's data.
    struct Piece {
        std::uint64_t number;
        std::int64_t result;
        std::int32_t error;
        std::uint32_t whole; ///< bytes of the data
    };
    struct Call {
        Answer answer;
        std::atomic<bool> is_answered{false};
    };
    void take(int source, const Ask& ask);
    void take(const Piece& piece, std::span<const std::byte> data);
    void serve(const std::stop_token& stop);
    bool take_asked(const std::stop_token& stop, std::deque<Asked>& all);
    void tell(int rank, std::uint64_t number, const Answer& answer);

    fabric::Fabric& fabric_;
    const Make make_;
    int asks_ = 0, answers_ = 0; ///< handlers
    std::mutex mutex_;           ///< guards what follows
    std::map<std::uint64_t, Call*> calls_;
    std::uint64_t next_ = 0;
    std::deque<Asked> asked_;
    std::condition_variable_any changed_;
    std::atomic<bool> has_ended_{false};
    std::jthread thread_; ///< started when it is needed first
};

} // namespace kumiki::openmp
