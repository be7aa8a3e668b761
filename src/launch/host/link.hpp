#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/system/descriptor.hpp"
#include "launch/system/events.hpp"
#include "launch/system/signals.hpp"
#include "launch/command/outcome.hpp"

namespace kumiki::launch {

/// What a new rank gets from its link; an empty descriptor stands for what the keeper itself has.
struct RankStreams {
    Descriptor input, output, error;
    Descriptor wireup; ///< the rank's end of the socket through which ranks of several hosts find each other
};

/// What the keeper hears through its link.
class LinkListener {
public:
    virtual void hear(const Word& word) = 0;
    /// The job is to end; what is to be said about it is said elsewhere, when the sentence is empty.
    virtual void end_with(Verdict verdict) = 0;
    /// So many ranks of the job, on all hosts, are stopped now.
    virtual void hear_of_stopped(int ranks) = 0;
    /// Nobody is there any more for whom the job is run.
    virtual void link_is_lost() = 0;

protected:
    ~LinkListener() = default;
};

/// What lies between a keeper and the user: where output goes, where input comes from, who is told the verdict.
class Link {
public:
    virtual ~Link() = default;

    /// From now on `events` serves the link, and `listener` hears what comes through it.
    virtual void attach(Events& events, LinkListener& listener) = 0;
    /// For the rank with this number among those of the host; nothing when the system has no descriptors left (errno
    /// tells).
    virtual std::optional<RankStreams> open(int local_rank) = 0;
    /// All ranks have been started.
    virtual void started() = 0;
    /// Why the job ends before its time; as soon as that is known, and once.
    virtual void judged(const Verdict& verdict) = 0;
    /// So many ranks of this host are stopped now.
    virtual void stopped(int ranks) = 0;
    /// Nothing of the job is alive: what its ranks have printed is to be written out.
    virtual void finish() = 0;
    virtual bool finished() const = 0;
    virtual void remark(const std::string& sentence) = 0;
    /// The last words. Returns the exit code of the keeper.
    virtual int close(const std::optional<Verdict>& verdict) = 0;
};

} // namespace kumiki::launch
