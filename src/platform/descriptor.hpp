#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace kumiki::platform {

/// Owns a file descriptor and closes it at the end. A negative number means none.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    void reset() {
        if (number_ >= 0) close(std::exchange(number_, -1));
    }

private:
    int number_ = -1;
};

/// A pipe whose ends are closed in every program that is started.
struct Pipe {
    Descriptor read, write;

    /// Both ends are empty when the system has no descriptors left (errno tells).
    static Pipe create() {
        int ends[2] = {-1, -1};
        if (pipe2(ends, O_CLOEXEC) != 0) return {};
        return {Descriptor(ends[0]), Descriptor(ends[1])};
    }
    explicit operator bool() const { return static_cast<bool>(read); }
};

} // namespace kumiki::platform
