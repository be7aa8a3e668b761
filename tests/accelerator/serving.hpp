#pragma once

#include <array>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <thread>

#include "accelerator/open.hpp"
#include "accelerator/server.hpp"

namespace kumiki::accelerator {

/// What keeps a server alive: until `other` is closed.
struct Lifeline {
    Lifeline() {
        std::array<int, 2> ends{-1, -1};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        here = File(ends[0]);
        other = File(ends[1]);
    }
    File here, other;
};

/// A server in a thread of the test's process.
class Serving {
public:
    explicit Serving(const std::string& description) : Serving([description] { return open_device(description); }) {}
    explicit Serving(const Server::Open& open) {
        Listening listening = listen_here();
        address = listening.address;
        thread_ = std::thread([this, open, socket = std::move(listening.socket)]() mutable {
            Server(std::move(socket), open).serve(line_.here);
        });
    }
    ~Serving() { end(); }
    void end() {
        if (!thread_.joinable()) return;
        line_.other = File();
        thread_.join();
    }

    std::uint32_t address = 0;

private:
    Lifeline line_;
    std::thread thread_;
};

} // namespace kumiki::accelerator
