#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

} // namespace kumiki::launch
