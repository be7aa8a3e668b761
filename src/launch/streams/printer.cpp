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

/// The lines that these bytes of a rank complete.
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
        output.writer = std::make_unique<StreamWriter>(stream);
        for (int rank = 0; rank < labelled_ranks; ++rank) output.labellers.emplace_back(rank);
    }
}

bool Printer::is_open() const {
    return std::ranges::all_of(outputs_,
                               [](const Output& output) { return output.writer->progress_descriptor() >= 0; });
}

void Printer::attach(Events& events, OnWritten on_written, OnClosed on_closed) {
    on_written_ = std::move(on_written);
    on_closed_ = std::move(on_closed);
    for (Output& output : outputs_)
        events.add(output.writer->progress_descriptor(), EPOLLIN, [this, &output] { take_progress(output); });
}

void Printer::print(std::size_t sender, Bytes bytes) {
    const auto index = static_cast<std::size_t>(bytes.stream - STDOUT_FILENO);
    if (index >= outputs_.size()) return;
    const StreamWriter::Receipt receipt{sender, bytes.text.size()};
    Output& output = outputs_[index];
    if (!output.labellers.empty()) bytes.text = labelled(output.labellers, bytes);
    if (!bytes.text.empty() || receipt.bytes > 0) output.writer->add(std::move(bytes.text), receipt);
}

void Printer::remark(std::string_view sentence) { outputs_.back().writer->add(line_of(sentence), {0, 0}); }

void Printer::finish() {
    for (Output& output : outputs_) {
        std::string last;
        for (LineLabeller& labeller : output.labellers) labeller.finish(last);
        if (!last.empty()) output.writer->add(std::move(last), {0, 0});
        output.writer->finish();
    }
}

bool Printer::finished() const { return std::ranges::all_of(outputs_, &Output::finished); }

void Printer::take_progress(Output& output) {
    const auto progress = output.writer->take_progress();
    output.finished = progress.finished;
    for (const auto& [sender, bytes] : progress.receipts)
        if (bytes > 0) on_written_(sender, output.writer->stream(), bytes);
    if (progress.broken && !std::exchange(output.closed, true)) on_closed_(output.writer->stream(), progress.failure);
}

} // namespace kumiki::launch
