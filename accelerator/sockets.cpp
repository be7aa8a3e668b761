#include "accelerator/sockets.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

namespace {

/// Addresses that the system chooses are a zero and five hexadecimal digits.
constexpr std::size_t digits = 5;
constexpr socklen_t address_length = offsetof(sockaddr_un, sun_path) + 1 + digits;

[[noreturn]] void fail(const char* what) {
    throw DeviceError(fmt::format("device server: {} failed: {}", what, std::strerror(errno)));
}

File new_socket() {
    File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) fail("socket()");
    return socket;
}

/// Of this user only.
bool is_own(const File& socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

} // namespace

Shared::Shared(const File& file, std::size_t bytes)
    : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)), bytes_(bytes) {
    if (data_ == MAP_FAILED) fail("mmap()");
}

Shared::~Shared() { munmap(data_, bytes_); }

Listening listen_here() {
    File socket = new_socket();
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name.sun_family) != 0) fail("bind()");
    constexpr int waiting = 1024;
    if (listen(socket.get(), waiting) != 0) fail("listen()");
    socklen_t length = sizeof name;
    if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &length) != 0 || length != address_length)
        fail("getsockname()");
    const std::string text(name.sun_path + 1, digits);
    return {std::move(socket), static_cast<std::uint32_t>(std::stoul(text, nullptr, 16))};
}

File connect_to(std::uint32_t address) {
    File socket = new_socket();
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    fmt::format_to(name.sun_path + 1, "{:05x}", address);
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), address_length) != 0)
        throw DeviceError(fmt::format("the server of the device cannot be reached: {}", std::strerror(errno)));
    if (!is_own(socket)) throw DeviceError("the server of the device belongs to another user");
    return socket;
}

namespace {

/// A message with one byte of data, without which none is sent, and room for the number of one open file.
struct FileMessage {
    FileMessage() = default;
    FileMessage(const FileMessage&) = delete; // it holds addresses of its own parts
    FileMessage& operator=(const FileMessage&) = delete;

    char data = 0;
    iovec piece{&data, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
    msghdr header{.msg_name = nullptr,
                  .msg_namelen = 0,
                  .msg_iov = &piece,
                  .msg_iovlen = 1,
                  .msg_control = space.data(),
                  .msg_controllen = space.size(),
                  .msg_flags = 0};
};

} // namespace

void send_file(const File& socket, const File& file) {
    FileMessage message;
    cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = file.get();
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
    if (sendmsg(socket.get(), &message.header, MSG_NOSIGNAL) < 0)
        throw DeviceError("the server of the device has ended");
}

File receive_file(const File& socket) {
    FileMessage message;
    if (!is_own(socket) || recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC) <= 0) return {};
    const cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) return {};
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    return File(number);
}

void send_answer(const File& socket, const std::string& sentence) {
    // A first byte, so that an empty sentence is a message, too.
    const std::string text = ' ' + sentence;
    send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL); // a client that has left needs no answer
}

std::string receive_answer(const File& socket) {
    std::array<char, 2048> text{};
    ssize_t length = 0;
    do length = recv(socket.get(), text.data(), text.size(), 0);
    while (length < 0 && errno == EINTR);
    if (length <= 0) throw DeviceError("the server of the device has ended before it was ready");
    return {text.data() + 1, static_cast<std::size_t>(length) - 1};
}

bool peer_has_left(const File& socket) {
    pollfd watched{socket.get(), POLLIN | POLLRDHUP, 0};
    // Nobody sends anything after the first answer.
    return poll(&watched, 1, 0) > 0;
}

} // namespace kumiki::accelerator
