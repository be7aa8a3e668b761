#include "launch/streams/printer.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "launch/command/outcome.hpp"

namespace kumiki::launch {

Lines Lines::labelled(int rank) { return Lines(fmt::format("[{}] ", rank)); }

void Lines::add(std::string_view text, std::string& out) {
    waits_ = false;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        out.append(label_).append(partial_).append(text.substr(0, end + 1));
        partial_.clear();
        text.remove_prefix(end + 1);
    }
    partial_.append(text);
    if (partial_.size() >= (label_.empty() ? longest_plain : longest_labelled)) finish(out);
}

void Lines::finish(std::string& out) {
    if (partial_.empty()) return;
    out.append(label_).append(partial_);
    if (!label_.empty()) out.push_back('\n');
    partial_.clear();
}

bool Lines::show_what_waits(std::string& out) {
    if (!label_.empty()) return false;
    if (std::exchange(waits_, true)) finish(out);
    return !partial_.empty();
}

namespace {

constexpr std::chrono::milliseconds shortest_wait(50);

/// The lines that these bytes of a rank complete.
std::string lines_of(std::vector<Lines>& ranks, const Bytes& bytes) {
    std::string whole;
    const auto rank = static_cast<std::size_t>(bytes.rank);
    if (rank >= ranks.size()) return whole;
    if (bytes.text.empty()) ranks[rank].finish(whole);
    else ranks[rank].add(bytes.text, whole);
    return whole;
}

} // namespace

Printer::Printer(int ranks, bool labels) : labels_(labels) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        Output& output = outputs_[static_cast<std::size_t>(stream - STDOUT_FILENO)];
        output.writer = std::make_unique<StreamWriter>(stream);
        for (int rank = 0; rank < ranks && (labels || ranks > 1); ++rank)
            output.lines.push_back(labels ? Lines::labelled(rank) : Lines(""));
    }
}

bool Printer::is_open() const {
    return std::ranges::all_of(outputs_,
                               [](const Output& output) { return output.writer->progress_descriptor() >= 0; });
}

void Printer::attach(Events& events, OnWritten on_written, OnClosed on_closed) {
    events_ = &events;
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
    if (!output.lines.empty()) {
        const bool may_be_part = !bytes.text.empty() && bytes.text.back() != '\n';
        bytes.text = lines_of(output.lines, bytes);
        if (!labels_ && may_be_part && !timer_.runs())
            timer_.start(*events_, shortest_wait, [this] { show_what_waits(); });
    }
    if (!bytes.text.empty() || receipt.bytes > 0) output.writer->add(std::move(bytes.text), receipt);
}

void Printer::show_parts(int rank) {
    if (labels_) return;
    for (Output& output : outputs_) {
        const auto at = static_cast<std::size_t>(rank);
        std::string text;
        if (at < output.lines.size()) output.lines[at].finish(text);
        if (!text.empty()) output.writer->add(std::move(text), {0, 0});
    }
}

void Printer::remark(std::string_view sentence) { outputs_.back().writer->add(line_of(sentence), {0, 0}); }

void Printer::finish() {
    timer_.stop();
    for (Output& output : outputs_) {
        std::string last;
        for (Lines& lines : output.lines) lines.finish(last);
        if (!last.empty()) output.writer->add(std::move(last), {0, 0});
        output.writer->finish();
    }
}

void Printer::show_what_waits() {
    bool any = false;
    for (Output& output : outputs_) {
        std::string text;
        for (Lines& lines : output.lines) any |= lines.show_what_waits(text);
        if (!text.empty()) output.writer->add(std::move(text), {0, 0});
    }
    if (!any) timer_.stop();
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
