#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/protocol/message.hpp"
#include "launch/streams/outlet.hpp"
#include "launch/system/events.hpp"

namespace kumiki::launch {

/// Cuts a stream into lines and puts a label before each.
class LineLabeller {
public:
    /// A longer line is cut: output without any end must not fill our memory.
    static constexpr std::size_t longest_line = std::size_t{16} << 20;

    explicit LineLabeller(int rank);
    /// Appends to `out` the lines that `text` completes; the rest is kept until its line ends, so that lines stay
    /// whole.
    void add(std::string_view text, std::string& out);
    /// Appends a last line that has no end.
    void finish(std::string& out);

private:
    std::string label_;
    std::string partial_;
};

/// Writes what ranks print to the launcher's own stdout and stderr, line by line with labels where they are wanted.
class Printer {
public:
    /// So many bytes of a sender have left.
    using OnWritten = std::function<void(std::size_t sender, int stream, std::size_t bytes)>;
    /// Nobody reads the stream any more; called once.
    using OnClosed = std::function<void(int stream)>;

    /// Labels for the ranks of a job of this size; 0: none.
    explicit Printer(int labelled_ranks);
    /// False when the system has no descriptors left; then it can only be destroyed.
    bool is_open() const;
    /// From now on `events` serves the printer. It must stay where it is.
    void attach(Events& events, OnWritten on_written, OnClosed on_closed);

    /// Prints what a rank has written to stdout or stderr, in the order of the calls. An empty text is the end of the
    /// rank's stream.
    void print(std::size_t sender, Bytes bytes);
    /// Prints a sentence of the launcher among them.
    void remark(std::string_view sentence);
    /// Nothing more will be printed: lines without an end are written out.
    void finish();
    /// Everything is written, after finish().
    bool finished() const;

private:
    struct Output {
        std::unique_ptr<Outlet> outlet;
        std::vector<LineLabeller> lines; ///< by rank; empty without labels
        bool closed = false, finished = false;
    };
    void take_news(Output& output);

    std::array<Output, 2> outputs_; ///< stdout and stderr
    OnWritten on_written_;
    OnClosed on_closed_;
};

} // namespace kumiki::launch
