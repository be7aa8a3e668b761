#include "launch/label.hpp"

#include <fmt/format.h>

namespace kumiki::launch {

LineLabeller::LineLabeller(int rank) : label_(fmt::format("[{}] ", rank)) {}

void LineLabeller::add(std::string_view text, std::string& out) {
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        out.append(label_).append(partial_).append(text.substr(0, end + 1));
        partial_.clear();
        text.remove_prefix(end + 1);
    }
    partial_.append(text);
    if (partial_.size() >= longest_line) finish(out);
}

void LineLabeller::finish(std::string& out) {
    if (partial_.empty()) return;
    out.append(label_).append(partial_).append("\n");
    partial_.clear();
}

} // namespace kumiki::launch
