#pragma once

#include <optional>

#include "launch/command/job.hpp"
#include "launch/host/link.hpp"
#include "launch/streams/output_relay.hpp"
#include "launch/streams/printer.hpp"

namespace kumiki::launch {

/// The link of a job on this host only: its ranks have the launcher's own streams, or, with labels, pipes to the
/// printer.
class LocalLink : public Link {
public:
    explicit LocalLink(const Job& job);

    void attach(Events& events, LinkListener& listener) override;
    std::optional<RankStreams> open(int local_rank, fabric::shm::RankBlock& block) override;
    void started() override;
    void report_verdict(const Verdict&) override {}
    void stopped(int) override {} // there are no ranks on other hosts that would miss its heartbeat
    void finish() override;
    bool finished() const override { return !labels_ || labels_->printer.finished(); }
    void remark(const std::string& sentence) override;
    int close(const std::optional<Verdict>& verdict) override;

private:
    struct Labels {
        explicit Labels(const Job& job);

        Printer printer;
        OutputRelay output;
    };
    void finish_printer();

    std::optional<Labels> labels_;
    Events* events_ = nullptr;
    LinkListener* listener_ = nullptr;
    bool finishing_ = false;
};

} // namespace kumiki::launch
