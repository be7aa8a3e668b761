#pragma once

#include "launch/command/job.hpp"
#include "launch/host/link.hpp"
#include "launch/host/wireup.hpp"
#include "launch/protocol/channel.hpp"
#include "launch/streams/input.hpp"
#include "launch/streams/output_relay.hpp"
#include "launch/system/timer.hpp"

namespace kumiki::launch {

/// The link of one host's share in a job over several hosts: everything goes through the channel to the controller.
class RemoteLink : public Link {
public:
    RemoteLink(const Job& job, Channel channel);

    void attach(Events& events, LinkListener& listener) override;
    std::optional<RankStreams> open(int local_rank, fabric::shm::RankBlock& block) override;
    void started() override;
    void report_verdict(const Verdict& verdict) override { channel_.send(VerdictReached{verdict}); }
    void stopped(int ranks) override { channel_.send(Stopped{ranks}); }
    void finish() override { output_.finish(); }
    bool finished() const override { return output_.finished(); }
    void remark(const std::string& sentence) override { channel_.send(Remark{sentence}); }
    int close(const std::optional<Verdict>& verdict) override;

private:
    void take(const Frame& frame);

    const Share& share_;
    Channel channel_;
    OutputRelay output_;
    InputRelay input_;
    WireUp wireup_;
    std::chrono::seconds timeout_; ///< how long the controller may be silent
    Heartbeat heartbeat_;
    Events* events_ = nullptr;
    LinkListener* listener_ = nullptr;
};

} // namespace kumiki::launch
