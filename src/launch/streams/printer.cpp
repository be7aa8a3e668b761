#include "launch/streams/printer.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "launch/command/outcome.hpp"

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

namespace {

/// The lines that what a rank has written completes.
std::string labelled(std::vector<LineLabeller>& ranks, const Bytes& bytes) {
    std::string whole;
    const auto rank = static_cast<std::size_t>(bytes.rank);
    if (rank >= ranks.size()) return whole;
    if (bytes.text.empty()) ranks[rank].finish(whole);
    else ranks[rank].add(bytes.text, whole);
    return whole;
}

} // namespace

Printer::Printer(int labelled_ranks) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        Output& output = outputs_[static_cast<std::size_t>(stream - STDOUT_FILENO)];
        output.outlet = std::make_unique<Outlet>(stream);
        for (int rank = 0; rank < labelled_ranks; ++rank) output.lines.emplace_back(rank);
    }
}

bool Printer::is_open() const {
    return std::ranges::all_of(outputs_, [](const Output& output) { return output.outlet->news() >= 0; });
}

void Printer::attach(Events& events, OnWritten on_written, OnClosed on_closed) {
    on_written_ = std::move(on_written);
    on_closed_ = std::move(on_closed);
    for (Output& output : outputs_) events.add(output.outlet->news(), EPOLLIN, [this, &output] { take_news(output); });
}

void Printer::print(std::size_t sender, Bytes bytes) {
    const auto index = static_cast<std::size_t>(bytes.stream - STDOUT_FILENO);
    if (index >= outputs_.size()) return;
    const Outlet::Receipt receipt{sender, bytes.text.size()};
    Output& output = outputs_[index];
    if (!output.lines.empty()) bytes.text = labelled(output.lines, bytes);
    if (!bytes.text.empty() || receipt.bytes > 0) output.outlet->add(std::move(bytes.text), receipt);
}

void Printer::remark(std::string_view sentence) { outputs_.back().outlet->add(line_of(sentence), {0, 0}); }

void Printer::finish() {
    for (Output& output : outputs_) {
        std::string last;
        for (LineLabeller& lines : output.lines) lines.finish(last);
        if (!last.empty()) output.outlet->add(std::move(last), {0, 0});
        output.outlet->finish();
    }
}

bool Printer::finished() const { return std::ranges::all_of(outputs_, &Output::finished); }

void Printer::take_news(Output& output) {
    const auto news = output.outlet->take_news();
    output.finished = news.finished;
    for (const auto& [sender, bytes] : news.receipts)
        if (bytes > 0) on_written_(sender, output.outlet->stream(), bytes);
    if (news.broken && !std::exchange(output.closed, true)) on_closed_(output.outlet->stream());
}

} // namespace kumiki::launch
