#include "message/agent.hpp"

#include <fmt/format.h>
#include <system_error>

namespace kumiki::message {

Result<> Agent::start() {
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot start the thread that receives long messages ({}); raise the limit (ulimit -u)",
                                error.what()));
    }
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
        if (call.open.exchange(0, std::memory_order_acq_rel) != 0) near_.serve();
    }
}

} // namespace kumiki::message
