#include "launch/host/local_link.hpp"

#include <cerrno>
#include <utility>

#include "launch/command/outcome.hpp"

namespace kumiki::launch {

LocalLink::Labels::Labels(const Job& job)
    : printer(job.ranks(), true),
      output(
          0, job.orders_output(), [this](Bytes bytes) { printer.print(0, std::move(bytes)); },
          [this](const Mark& mark) { output.mark_passed(mark); }) {}

LocalLink::LocalLink(const Job& job) {
    if (job.options.label) labels_.emplace(job);
}

void LocalLink::attach(Events& events, LinkListener& listener) {
    events_ = &events;
    listener_ = &listener;
}

std::optional<RankStreams> LocalLink::open(int local_rank, fabric::shm::RankBlock& block) {
    RankStreams streams;
    if (!labels_) return streams;
    auto ends = labels_->output.open(local_rank, block.output_read);
    if (!ends || !labels_->printer.is_open()) return {};
    streams.output = std::move(ends->output);
    streams.error = std::move(ends->error);
    streams.marks = std::move(ends->marks);
    streams.unread = std::move(ends->unread);
    return streams;
}

void LocalLink::started() {
    if (!labels_) return;
    labels_->output.attach(*events_);
    labels_->printer.attach(
        *events_,
        [this](std::size_t, int stream, std::size_t bytes) {
            labels_->output.written(stream, bytes);
            finish_printer();
        },
        [this](int stream, const std::string& failure) {
            if (!failure.empty()) listener_->end_with({exit_code::environment, failure});
            labels_->output.closed(stream);
            finish_printer();
        });
}

void LocalLink::finish() {
    if (!labels_) return;
    finishing_ = true;
    labels_->output.finish();
    finish_printer();
}

/// Ends the printer when everything that the ranks have printed has been passed on to it.
void LocalLink::finish_printer() {
    if (finishing_ && labels_->output.finished()) labels_->printer.finish();
}

void LocalLink::remark(const std::string& sentence) { say(sentence); }

int LocalLink::close(const std::optional<Verdict>& verdict) {
    if (!verdict) return exit_code::ok;
    if (!verdict->sentence.empty()) say(verdict->sentence);
    return verdict->code;
}

} // namespace kumiki::launch
