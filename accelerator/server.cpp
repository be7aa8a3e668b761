#include "accelerator/server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <list>

#include "accelerator/session.hpp"

namespace kumiki::accelerator {

std::string Server::serve(const File& lifeline) {
    std::unique_ptr<Device> device;
    std::string failure;
    try {
        device = open_();
    } catch (const DeviceError& error) {
        failure = error.what();
    }

    std::list<Session> sessions;
    bool needed = true;
    while (needed || !sessions.empty()) {
        // A lifeline that has been seen to be cut would be reported again and again.
        std::array<pollfd, 2> watched{{{listening_.get(), POLLIN, 0}, {needed ? lifeline.get() : -1, POLLIN, 0}}};
        poll(watched.data(), watched.size(), static_cast<int>(look_every));
        if (watched[1].revents != 0) needed = false;
        sessions.remove_if([](const Session& session) { return session.over(); });
        if ((watched[0].revents & POLLIN) == 0) continue;
        File socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) continue;
        File file = receive_file(socket);
        if (file.get() < 0) continue;
        // The session owns its socket before it is known whether it can be.
        const File answer(dup(socket.get()));
        std::string sentence = failure;
        if (device) try {
                sessions.emplace_back(*device, std::move(socket), std::move(file));
            } catch (const DeviceError& error) {
                sentence = error.what();
            }
        send_answer(answer, sentence);
    }
    return device ? device->remark() : "";
}

} // namespace kumiki::accelerator
