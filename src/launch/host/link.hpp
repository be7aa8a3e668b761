#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fabric/shm/layout.hpp"
#include "launch/command/outcome.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/events.hpp"
#include "launch/system/signals.hpp"

namespace kumiki::launch {

/// The descriptors that a new rank gets from its link; for an empty one the rank inherits the host daemon's own stream.
struct RankStreams {
    platform::Descriptor input, output, error;
    platform::Descriptor marks, unread; ///< for the order of its output (OutputRelay)
    platform::Descriptor wireup; ///< the rank's end of the socket through which ranks of several hosts find each other
};

/// The calls by which the link informs the host daemon.
class LinkListener {
public:
    virtual void on_signal(const SignalNotice& notice) = 0;
    /// The job must end, for this reason.
    virtual void end_with(Verdict verdict) = 0;
    /// Another host has ended the job, and its launcher explains this to the user.
    virtual void on_end() = 0;
    /// So many ranks of the job, on all hosts, are stopped now.
    virtual void on_stopped_count(int ranks) = 0;
    /// The connection to the user is lost, so there is no purpose in running the job any longer.
    virtual void on_link_lost() = 0;

protected:
    ~LinkListener() = default;
};

/// The connection between a host daemon and the user, for output, input and the verdict.
class Link {
public:
    virtual ~Link() = default;

    /// From now on `events` serves the link, and the link calls `listener`.
    virtual void attach(Events& events, LinkListener& listener) = 0;
    /// The streams for the rank with this number on the host, whose block this is; nothing if the system has no
    /// descriptors left (errno tells why).
    virtual std::optional<RankStreams> open(int local_rank, fabric::shm::RankBlock& block) = 0;
    /// Must be called when all ranks have been started.
    virtual void started() = 0;
    /// Reports why the job ends early, as soon as the reason is known; again if the end of another rank turns out to
    /// be the cause.
    virtual void report_verdict(const Verdict& verdict) = 0;
    /// Reports that so many ranks of this host are stopped now.
    virtual void stopped(int ranks) = 0;
    /// Must be called when no process of the job is alive: writes out what the ranks have printed.
    virtual void finish() = 0;
    virtual bool finished() const = 0;
    virtual void remark(const std::string& sentence) = 0;
    /// Ends the link with the verdict, if there is one. Returns the exit code of the host daemon.
    virtual int close(const std::optional<Verdict>& verdict) = 0;
};

} // namespace kumiki::launch
