#pragma once

#include <memory>

#include "launch/label.hpp"
#include "launch/link.hpp"

namespace kumiki::launch {

/// The link of a job on this host alone: its ranks have the launcher's own streams, or pipes to a thread that labels.
class NearLink : public Link {
public:
    explicit NearLink(bool label);

    void attach(Events& events, LinkListener& listener) override;
    std::optional<RankStreams> open(int local_rank) override;
    void started() override;
    void judged(const Verdict&) override {}
    void finish() override;
    bool finished() const override { return finished_; }
    void remark(const std::string& sentence) override;
    int close(const std::optional<Verdict>& verdict) override;

private:
    Events* events_ = nullptr;
    std::unique_ptr<Labels> labels_;
    bool finished_ = false;
};

} // namespace kumiki::launch
