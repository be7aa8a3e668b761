#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/controller/agent.hpp"
#include "launch/protocol/channel.hpp"
#include "launch/command/hosts.hpp"
#include "launch/system/timer.hpp"

namespace kumiki::launch {

/// A host as the front sees it: the agent that reaches it, the channel to its keeper, and how far it is.
class RemoteHost {
public:
    enum class State {
        starting, ///< the agent runs, the keeper has not said anything
        greeted,  ///< the keeper has its orders
        ready,    ///< it waits for the others
        running,  ///< it has ranks
        over,     ///< nothing of the job is left there, as far as can be known
    };

    /// `agent` are the words of the command, without the host's name; `program` is kumiki-run on the host.
    RemoteHost(Share share, std::vector<std::string> agent, std::string program, std::chrono::seconds timeout);
    RemoteHost(const RemoteHost&) = delete;
    RemoteHost& operator=(const RemoteHost&) = delete;
    ~RemoteHost() { end(std::chrono::milliseconds(0)); }

    /// Starts the agent; `on_frame` hears the keeper, `on_loss` that the channel has ended.
    Result<> start(Events& events, const Origin& origin, Channel::OnFrame on_frame, Channel::OnEnd on_loss);
    void start_pulse(Events& events, std::function<void()> on_silence);
    void heard() { pulse_.heard(); }

    const Share& share() const { return share_; }
    Channel& channel() { return *channel_; }
    State state() const { return state_; }
    void enter(State state) { state_ = state; }

    /// Whether the agent has ended by itself.
    bool agent_has_ended();
    /// The keeper has said that it is done.
    void leave();
    /// Closes the channel, waits for the agent to end, and kills it when it takes longer than `patience`.
    void end(std::chrono::milliseconds patience);

    /// The sentence for a host that has not answered, or from which nothing was heard, for so long.
    std::string silence(std::chrono::seconds time) const;
    /// The sentence for a host whose channel has ended before its time; end() has been called.
    std::string loss() const;
    /// What remains to be told of the agent after end(): that it does not die, and, when all is wanted, what it or the
    /// keeper through it has said on its standard error.
    std::vector<std::string> last_words(bool all) const;

private:
    void hear_errors(int reads = 1);
    std::vector<std::string> said() const;
    std::string command() const;
    std::string how_the_agent_ended() const;

    const Share share_;
    const std::vector<std::string> agent_words_;
    const std::string program_;
    State state_ = State::starting;
    Events* events_ = nullptr;
    std::optional<Agent> agent_;
    std::optional<AgentEnd> agent_end_;
    std::optional<Channel> channel_;
    std::string errors_;
    Pulse pulse_;
};

} // namespace kumiki::launch
