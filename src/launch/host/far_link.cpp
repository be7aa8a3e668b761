#include "launch/host/far_link.hpp"

#include "launch/command/outcome.hpp"

namespace kumiki::launch {

FarLink::FarLink(const Job& job, Channel channel)
    : share_(job.share),
      channel_(std::move(channel)),
      output_(share_.first, [this](const Bytes& bytes) { channel_.send(bytes); }),
      input_(channel_),
      wireup_(channel_, share_,
              [this](std::string sentence) { listener_->end_with({exit_code::environment, std::move(sentence)}); }),
      timeout_(job.settings.timeout_s),
      pulse_(timeout_) {}

void FarLink::attach(Events& events, LinkListener& listener) {
    events_ = &events;
    listener_ = &listener;
    input_.attach(events);
    channel_.attach(events, [this](const Frame& frame) { take(frame); }, [this] { listener_->link_is_lost(); });
    pulse_.start(events, [this] { channel_.send(Alive{}); }, [this] { listener_->link_is_lost(); });
}

std::optional<RankStreams> FarLink::open(int local_rank) {
    RankStreams streams;
    auto writers = output_.open(local_rank);
    if (!writers) return {};
    streams.output = std::move((*writers)[0]);
    streams.error = std::move((*writers)[1]);
    const bool reads = share_.first + local_rank == 0;
    if (reads) streams.input = input_.open();
    if (!share_.alone()) streams.wireup = wireup_.open(local_rank);
    if ((reads && !streams.input) || (!share_.alone() && !streams.wireup)) return {};
    return streams;
}

void FarLink::started() {
    output_.attach(*events_);
    wireup_.attach(*events_);
    channel_.receive(); // what came together with the order
}

void FarLink::take(const Frame& frame) {
    pulse_.heard();
    if (const auto word = read_message<SignalWord>(frame)) {
        if (word->signal == SIGTSTP) pulse_.excuse();
        listener_->hear({word->signal, false});
    } else if (const auto stopped = read_message<Stopped>(frame)) listener_->hear_of_stopped(stopped->ranks);
    else if (read_message<End>(frame)) listener_->end_with({exit_code::failed, ""});
    else if (const auto bytes = read_message<Bytes>(frame)) input_.add(bytes->text);
    else if (const auto written = read_message<Written>(frame)) output_.written(written->stream, written->bytes);
    else if (const auto closed = read_message<Closed>(frame)) output_.closed(closed->stream);
    else if (const auto card = read_message<Card>(frame)) wireup_.add(*card);
}

int FarLink::close(const std::optional<Verdict>&) {
    channel_.send(Done{});
    channel_.wait_until_written(Channel::Clock::now() + timeout_);
    return exit_code::ok;
}

} // namespace kumiki::launch
