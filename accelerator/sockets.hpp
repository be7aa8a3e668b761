#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <unistd.h>

namespace kumiki::accelerator {

/// Owns a file descriptor.
class File {
public:
    File() = default;
    explicit File(int number) : number_(number) {}
    File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~File() {
        if (number_ >= 0) close(number_);
    }
    int get() const { return number_; }

private:
    int number_ = -1;
};

/// The shared memory of a file, mapped.
class Shared {
public:
    Shared(const File& file, std::size_t bytes);
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared();
    void* data() const { return data_; }
    std::size_t size() const { return bytes_; }

private:
    void* data_;
    std::size_t bytes_;
};

/// A socket of this host that clients can connect to, at an address that the system chooses: a number below 2^20. It is
/// not in the file system, and belongs to the network namespace.
struct Listening {
    File socket;
    std::uint32_t address;
};
Listening listen_here();
/// Throws DeviceError when nobody listens there.
File connect_to(std::uint32_t address);

/// A client's first message: the file that both share. An invalid file is returned when the peer has left.
void send_file(const File& socket, const File& file);
File receive_file(const File& socket);
/// The server's answer: a sentence about what failed; empty: the device is at hand. Throws DeviceError when the server
/// has ended.
void send_answer(const File& socket, const std::string& sentence);
std::string receive_answer(const File& socket);

/// Whether the other end of a connection has been closed, which the system does also for a process that was killed.
bool peer_has_left(const File& socket);

} // namespace kumiki::accelerator
