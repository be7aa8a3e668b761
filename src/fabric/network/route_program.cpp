// kumiki-network-route: says by which way long puts and gets between hosts go on this machine, for `kumiki doctor`. It
// opens the network engine twice, as two hosts would, moves some data between the two ends, and prints
//
//   {"put": {"direct": false, "why": "..."}, "get": {...}}
//
// Exit code 3: the engine cannot be opened; the reason is on standard error.
#include <array>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "fabric/network/transport.hpp"
#include "settings/settings.hpp"

namespace {

using namespace kumiki;
using fabric::Transport;
using Direction = Transport::Direction;

class Ends {
public:
    Result<> open(const std::string& interface) {
        for (std::size_t end = 0; end < ends_.size(); ++end) {
            Transport::Events events;
            events.moved = [this](std::uint64_t, bool) { moved_ = true; };
            auto opened = fabric::open_transport(interface, keys_[end], std::move(events));
            if (!opened) return tl::unexpected(opened.error());
            ends_[end] = std::move(*opened);
        }
        for (const auto& end : ends_) end->know({{ends_[0]->address(), keys_[0]}, {ends_[1]->address(), keys_[1]}});
        return {};
    }

    /// The first transfer shows which way the engine takes.
    nlohmann::json route(Direction direction) {
        if (ends_[0]->route(1, direction).is_direct) move(direction);
        const auto found = ends_[0]->route(1, direction);
        return {{"direct", found.is_direct}, {"why", found.why}};
    }

private:
    void move(Direction direction) {
        if (!window_) window_ = ends_[0]->open_window(1, ends_[1]->share(there_));
        if (!window_) return;
        moved_ = false;
        const auto begun =
            ends_[0]->begin(*window_, direction, reinterpret_cast<std::uintptr_t>(there_.data()), here_, 1);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (begun == Transport::Begun::under_way && !moved_ && std::chrono::steady_clock::now() < end) {
            for (const auto& each : ends_) each->progress();
            std::this_thread::yield();
        }
    }

    static constexpr std::size_t bytes = std::size_t{1} << 20;
    std::vector<std::byte> here_ = std::vector<std::byte>(bytes), there_ = std::vector<std::byte>(bytes);
    std::array<fabric::Key, 2> keys_{fabric::Key::make(), fabric::Key::make()};
    std::array<std::shared_ptr<Transport>, 2> ends_;
    bool moved_ = false;
    std::shared_ptr<Transport::Window> window_; // must not outlive the transports
};

} // namespace

int main() {
    constexpr int environment_not_usable = 3;
    const auto settings = read_settings(environ);
    if (!settings) {
        fmt::print(stderr, "kumiki-network-route: {}\n", settings.error().message);
        return environment_not_usable;
    }
    Ends ends;
    if (const auto opened = ends.open(settings->interface); !opened) {
        fmt::print(stderr, "kumiki-network-route: {}\n", opened.error().message);
        return environment_not_usable;
    }
    const nlohmann::json found = {{"put", ends.route(Direction::put)}, {"get", ends.route(Direction::get)}};
    fmt::print("{}\n", found.dump());
    return 0;
}
