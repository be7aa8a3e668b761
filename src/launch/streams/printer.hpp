#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/protocol/message.hpp"
#include "launch/streams/stream_writer.hpp"
#include "launch/system/events.hpp"
#include "launch/system/timer.hpp"

namespace kumiki::launch {

/// Splits a stream into lines, and puts a label before each if it has one.
class Lines {
public:
    /// A longer line is cut, because output without line ends must not fill the launcher's memory.
    static constexpr std::size_t longest_labelled = std::size_t{16} << 20, longest_plain = std::size_t{64} << 10;

    explicit Lines(std::string label) : label_(std::move(label)) {}
    static Lines labelled(int rank);

    /// Appends to `out` the lines that `text` completes, and keeps the rest until its line ends, so that lines stay
    /// whole.
    void add(std::string_view text, std::string& out);
    /// Appends the last line if it has no end; a line with a label gets one.
    void finish(std::string& out);
    /// Of lines without labels, appends what has been kept since before the last call: the program may be asking for
    /// something. Returns whether it still keeps something.
    bool show_what_waits(std::string& out);

private:
    std::string label_;
    std::string partial_;
    bool waits_ = false; ///< nothing has been added since the last show_what_waits()
};

/// Writes the output of ranks to the launcher's own stdout and stderr, line by line. Without labels, a line without an
/// end is kept for a moment only, and a rank that is alone has its output written as it arrives.
class Printer {
public:
    /// Called when `bytes` bytes of a sender have been written.
    using OnWritten = std::function<void(std::size_t sender, int stream, std::size_t bytes)>;
    /// Called once, when the stream no longer has a reader, or cannot be written for the reason that `failure` says.
    using OnClosed = std::function<void(int stream, const std::string& failure)>;

    Printer(int ranks, bool labels);
    /// Returns false if the system has no descriptors left; then the printer can only be destroyed.
    bool is_open() const;
    /// From now on `events` serves the printer, which must not be moved afterwards.
    void attach(Events& events, OnWritten on_written, OnClosed on_closed);

    /// Prints the output of a rank to stdout or stderr, in the order of the calls. An empty text means the end of the
    /// rank's stream.
    void print(std::size_t sender, Bytes bytes);
    /// Prints the parts of lines of a rank that have been kept, which now come before what others print.
    void show_parts(int rank);
    /// Prints a sentence of the launcher, in the order of the calls.
    void remark(std::string_view sentence);
    /// Declares that nothing more will be printed, and writes out lines without an end.
    void finish();
    /// Whether everything has been written after finish().
    bool finished() const;

private:
    struct Output {
        std::unique_ptr<StreamWriter> writer;
        std::vector<Lines> lines; ///< by rank; empty: what arrives is written
        bool closed = false, finished = false;
    };
    void take_progress(Output& output);
    void show_what_waits();

    bool labels_;
    std::array<Output, 2> outputs_; ///< stdout and stderr
    Events* events_ = nullptr;
    PeriodicTimer timer_; ///< runs while lines without labels may be kept
    OnWritten on_written_;
    OnClosed on_closed_;
};

} // namespace kumiki::launch
