#include "message/agent.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "platform/thread.hpp"

namespace kumiki::message {
namespace {

/// How long a short message may wait for a program that computes when there is room again.
constexpr std::chrono::milliseconds between_looks{1};

} // namespace

Result<> Agent::start() {
    auto started = platform::start_thread("receives long messages", [this] { serve(); });
    if (!started) return tl::unexpected(started.error());
    thread_ = std::move(*started);
    return {};
}

void Agent::stop() {
    if (!thread_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    wait::ring(fabric_.memory().own().call.bell, fabric_.progress().patience());
    thread_.join();
}

void Agent::serve() {
    auto& call = fabric_.memory().own().call;
    const wait::Patience patience = wait::asleep(fabric_.progress().patience());
    const auto stopped = [this] { return stop_.load(std::memory_order_acquire); };
    while (!stopped()) {
        wait::wait(call.bell, patience, [&] { return stopped() || call.open.load(std::memory_order_acquire) != 0; });
        // A sender that calls from now on finds the call closed and opens it again, so the next look sees its message.
        if (call.open.exchange(0, std::memory_order_acq_rel) == 0) continue;
        near_.serve();
        // No bell tells that there is room; the program's own calls usually send these messages before.
        for (; near_.has_work() && !stopped(); near_.progress()) std::this_thread::sleep_for(between_looks);
    }
}

} // namespace kumiki::message
