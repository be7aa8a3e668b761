#include "launch/near_link.hpp"

#include "launch/exit_code.hpp"
#include "launch/say.hpp"

namespace kumiki::launch {

NearLink::NearLink(bool label) {
    if (label) labels_ = std::make_unique<Labels>();
}

void NearLink::attach(Events& events, LinkListener&) { events_ = &events; }

std::optional<RankStreams> NearLink::open(int local_rank) {
    RankStreams streams;
    if (!labels_) return streams;
    auto writers = labels_->open(local_rank);
    if (!writers[1]) return {};
    streams.output = std::move(writers[0]);
    streams.error = std::move(writers[1]);
    return streams;
}

void NearLink::started() {
    if (labels_) labels_->start();
}

void NearLink::finish() {
    finished_ = labels_ == nullptr;
    if (finished_) return;
    labels_->finish();
    events_->add(labels_->done(), EPOLLIN, [this] {
        finished_ = true;
        events_->remove(labels_->done());
    });
}

void NearLink::remark(const std::string& sentence) { say(sentence); }

int NearLink::close(const std::optional<Verdict>& verdict) {
    labels_.reset();
    if (!verdict) return exit_code::ok;
    if (!verdict->sentence.empty()) say(verdict->sentence);
    return verdict->code;
}

} // namespace kumiki::launch
