#include "launch/host/remote_link.hpp"

#include "launch/command/outcome.hpp"

namespace kumiki::launch {

RemoteLink::RemoteLink(const Job& job, Channel channel)
    : share_(job.share),
      channel_(std::move(channel)),
      output_(
          share_.first, job.orders_output(), [this](const Bytes& bytes) { channel_.send(bytes); },
          [this](const Mark& mark) { channel_.send(mark); }),
      input_(channel_),
      wireup_(channel_, share_,
              [this](std::string sentence) { listener_->end_with({exit_code::environment, std::move(sentence)}); }),
      timeout_(job.settings.timeout_s),
      heartbeat_(timeout_) {}

void RemoteLink::attach(Events& events, LinkListener& listener) {
    events_ = &events;
    listener_ = &listener;
    input_.attach(events);
    channel_.attach(events, [this](const Frame& frame) { take(frame); }, [this] { listener_->on_link_lost(); });
    heartbeat_.start(events, [this] { channel_.send(Alive{}); }, [this] { listener_->on_link_lost(); });
}

std::optional<RankStreams> RemoteLink::open(int local_rank, fabric::shm::RankBlock& block) {
    RankStreams streams;
    auto ends = output_.open(local_rank, block.output_read);
    if (!ends) return {};
    streams.output = std::move(ends->output);
    streams.error = std::move(ends->error);
    streams.marks = std::move(ends->marks);
    streams.unread = std::move(ends->unread);
    const bool reads = share_.first + local_rank == 0;
    if (reads) streams.input = input_.open();
    if (!share_.alone()) streams.wireup = wireup_.open(local_rank);
    if ((reads && !streams.input) || (!share_.alone() && !streams.wireup)) return {};
    return streams;
}

void RemoteLink::started() {
    output_.attach(*events_);
    wireup_.attach(*events_);
    channel_.receive(); // what arrived together with the instructions
}

void RemoteLink::take(const Frame& frame) {
    heartbeat_.heard();
    if (const auto signal = read_message<ForwardedSignal>(frame)) {
        if (signal->signal == SIGTSTP) heartbeat_.suspend();
        listener_->on_signal({signal->signal, false});
    } else if (const auto stopped = read_message<Stopped>(frame)) listener_->on_stopped_count(stopped->ranks);
    else if (read_message<End>(frame)) listener_->on_end();
    else if (const auto bytes = read_message<Bytes>(frame)) input_.add(bytes->text);
    else if (const auto written = read_message<Written>(frame)) output_.written(written->stream, written->bytes);
    else if (const auto closed = read_message<Closed>(frame)) output_.closed(closed->stream);
    else if (const auto mark = read_message<Mark>(frame)) output_.mark_passed(*mark);
    else if (const auto card = read_message<Card>(frame)) wireup_.add(*card);
}

int RemoteLink::close(const std::optional<Verdict>&) {
    channel_.send(Done{});
    channel_.wait_until_written(Channel::Clock::now() + timeout_);
    return exit_code::ok;
}

} // namespace kumiki::launch
