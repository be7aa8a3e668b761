#pragma once

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "launch/descriptor.hpp"

namespace kumiki::launch {

/// Cuts a stream into lines and puts a label before each.
class LineLabeller {
public:
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

/// Copies what the ranks print to the launcher's own stdout and stderr, line by line with labels. A thread of its own
/// does it, because whoever reads our output may stop reading, and the keeper must stay awake.
class Labels {
public:
    Labels();
    ~Labels();
    Labels(const Labels&) = delete;
    Labels& operator=(const Labels&) = delete;

    /// The writing ends for the stdout and stderr of a rank; empty when the system has no descriptors left (errno
    /// tells).
    std::array<Descriptor, 2> open(int rank);
    /// To be called once, when all ranks have been started.
    void start();
    /// To be called when all writers are gone: what is still in the pipes is copied, then the thread ends.
    void finish();
    /// Becomes readable when everything has been copied.
    int done() const { return done_.get(); }

private:
    struct Source {
        Descriptor pipe;
        int target; ///< STDOUT_FILENO or STDERR_FILENO
        LineLabeller lines;
    };
    void copy();
    bool read_from(Source& source, std::string& out);
    void drain(Source& source);
    void close_source(Source& source);
    void write_to(int target, std::string_view text);

    std::vector<Source> sources_;
    std::array<bool, 3> broken_{}; ///< by target: nobody reads it any more
    Descriptor finish_, done_;
    std::thread thread_;
};

} // namespace kumiki::launch
