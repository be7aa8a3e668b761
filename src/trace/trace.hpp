#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "error/result.hpp"
#include "trace/file.hpp"

namespace kumiki::trace {

/// The timeline of a rank: the operations of each thread with their start and end. It is written when the rank leaves
/// the job, in the Trace Event Format, which Perfetto and chrome://tracing open; all ranks add to one file (hosts that
/// share no file system have one each). Thread-safe.
class Trace {
public:
    struct Event {
        const char* name;        ///< a literal
        std::int64_t begin, end; ///< ns since the epoch: the clock on which hosts agree best
        int thread;              ///< the operating system's number of the thread
        int rank;                ///< the other rank; -1: none
        std::uint64_t bytes;
    };
    /// Later events of a rank are counted but not kept.
    static constexpr std::size_t most_events = std::size_t{1} << 20;

    /// Null when `file` is empty. Rank 0 creates the file anew, and fails if it cannot.
    static Result<std::unique_ptr<Trace>> open(const std::string& file, int rank, const std::string& host);
    /// Writes the events. Times count from the second before rank 0 joined, so that they keep their ns even in a reader
    /// that stores us as doubles. Events that can no longer be written are lost without a message.
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    void add(const Event& event);

private:
    Trace(File file, int rank, std::string host) : file_(std::move(file)), host_(std::move(host)), rank_(rank) {}

    /// The events as JSON, with times from `start` on.
    std::string text(std::int64_t start) const;

    File file_;
    std::string host_;
    int rank_;
    std::mutex mutex_; ///< protects the following members
    std::vector<Event> events_;
    std::size_t left_out_ = 0;
};

/// An event that lasts until the end of the scope. Without a trace it costs one test.
class Span {
public:
    Span(Trace* trace, const char* name, int rank = -1, std::uint64_t bytes = 0) : trace_(trace) {
        if (trace_ != nullptr) [[unlikely]]
            begin(name, rank, bytes);
    }
    ~Span() {
        if (trace_ != nullptr) [[unlikely]]
            end();
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

private:
    void begin(const char* name, int rank, std::uint64_t bytes);
    void end();

    Trace* trace_;
    Trace::Event event_; ///< set only with a trace
};

} // namespace kumiki::trace
