#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/protocol/message.hpp"
#include "launch/streams/stream_writer.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// Splits a stream into lines and puts a label before each.
class LineLabeller {
public:
    /// A longer line is cut, because output without line ends must not fill the launcher's memory.
    static constexpr std::size_t longest_line = std::size_t{16} << 20;

    explicit LineLabeller(int rank);
    /// Appends to `out` the lines that `text` completes, and keeps the rest until its line ends, so that lines stay
    /// whole.
    void add(std::string_view text, std::string& out);
    /// Appends the last line if it has no end.
    void finish(std::string& out);

private:
    std::string label_;
    std::string partial_;
};

/// Writes the output of ranks to the launcher's own stdout and stderr: with labels line by line, otherwise as it
/// arrives.
class Printer {
public:
    /// Called when `bytes` bytes of a sender have been written.
    using OnWritten = std::function<void(std::size_t sender, int stream, std::size_t bytes)>;
    /// Called once, when the stream no longer has a reader, or cannot be written for the reason that `failure` says.
    using OnClosed = std::function<void(int stream, const std::string& failure)>;

    /// Labels the lines of a job with this many ranks; 0: no labels.
    explicit Printer(int labelled_ranks);
    /// Returns false if the system has no descriptors left; then the printer can only be destroyed.
    bool is_open() const;
    /// From now on `events` serves the printer, which must not be moved afterwards.
    void attach(Events& events, OnWritten on_written, OnClosed on_closed);

    /// Prints the output of a rank to stdout or stderr, in the order of the calls. An empty text means the end of the
    /// rank's stream.
    void print(std::size_t sender, Bytes bytes);
    /// Prints a sentence of the launcher, in the order of the calls.
    void remark(std::string_view sentence);
    /// Declares that nothing more will be printed, and writes out lines without an end.
    void finish();
    /// Whether everything has been written after finish().
    bool finished() const;

private:
    struct Output {
        std::unique_ptr<StreamWriter> writer;
        std::vector<LineLabeller> labellers; ///< by rank; empty without labels
        bool closed = false, finished = false;
    };
    void take_progress(Output& output);

    std::array<Output, 2> outputs_; ///< stdout and stderr
    OnWritten on_written_;
    OnClosed on_closed_;
};

} // namespace kumiki::launch
