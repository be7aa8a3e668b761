#include "accelerator/server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <exception>
#include <list>
#include <span>
#include <thread>
#include <vector>

#include "accelerator/session.hpp"

namespace kumiki::accelerator {

namespace {

/// Clients of a device, from when they connect until they leave.
class Clients {
public:
    /// `device`: null where it could not be opened; then `failure` is the answer to every client.
    Clients(Device* device, std::string failure) : device_(device), failure_(std::move(failure)) {}

    bool has_sessions() const { return !sessions_.empty(); }
    /// What to poll for clients that have not sent their file: one of them must not keep the others waiting.
    void add_to(std::vector<pollfd>& watched) const {
        for (const File& socket : silent_) watched.push_back({socket.get(), POLLIN, 0});
    }
    /// `answers`: of the sockets that add_to() has added.
    void serve(std::span<const pollfd> answers) {
        std::vector<File> silent;
        for (std::size_t i = 0; i < answers.size(); ++i)
            if (answers[i].revents == 0) silent.push_back(std::move(silent_[i]));
            else begin(std::move(silent_[i]));
        silent_ = std::move(silent);
    }
    void forget_those_that_left() {
        sessions_.remove_if([](const Session& session) { return session.over(); });
    }
    void accept(const File& listening) {
        File socket(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() >= 0) silent_.push_back(std::move(socket));
        // With too few open files the client stays in the queue: to ask again at once would take a processor.
        else std::this_thread::sleep_for(std::chrono::milliseconds(look_every));
    }

private:
    void begin(File socket) {
        File file = receive_file(socket);
        if (file.get() < 0) return;
        // The session owns its socket before it is known whether it can be.
        const File answer(dup(socket.get()));
        std::string sentence = failure_;
        if (device_ != nullptr) try {
                sessions_.emplace_back(*device_, std::move(socket), std::move(file));
            } catch (const std::exception& error) { // of the device, or too little memory
                sentence = error.what();
            }
        send_answer(answer, sentence);
    }

    Device* device_;
    std::string failure_;
    std::vector<File> silent_;
    std::list<Session> sessions_;
};

} // namespace

std::string Server::serve(const File& lifeline) {
    std::unique_ptr<Device> device;
    std::string failure;
    try {
        device = open_();
    } catch (const DeviceError& error) {
        failure = error.what();
    }

    Clients clients(device.get(), failure);
    bool needed = true;
    while (needed || clients.has_sessions()) {
        // A lifeline that has been seen to be cut would be reported again and again.
        std::vector<pollfd> watched{{listening_.get(), POLLIN, 0}, {needed ? lifeline.get() : -1, POLLIN, 0}};
        clients.add_to(watched);
        poll(watched.data(), watched.size(), static_cast<int>(look_every));
        if (watched[1].revents != 0) needed = false;
        clients.forget_those_that_left();
        clients.serve(std::span(watched).subspan(2));
        if ((watched[0].revents & POLLIN) != 0) clients.accept(listening_);
    }
    return device ? device->remark() : "";
}

} // namespace kumiki::accelerator
