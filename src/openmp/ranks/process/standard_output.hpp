#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace kumiki::openmp {

/// How the C library of this process keeps what the program prints before it writes it. While other processes may
/// print, it writes whole lines, so that theirs do not come in between; otherwise long pieces, as a program expects
/// whose output goes to a file, because a system call for each line takes time.
///
/// Where the launcher prints for this process, what processes print one after the other arrives in the same order only
/// if they ask for it, by a mark (launch/streams/output_relay.hpp).
class StandardOutput {
public:
    /// `marks`: the descriptor of the socket for them; -1: the launcher prints nothing for this process. `unread`: that
    /// of an epoll which is ready while the launcher has not read everything. `is_read`: not 0 if it has read something
    /// since the last mark.
    StandardOutput(int marks, int unread, const std::atomic<std::uint32_t>& is_read);

    /// Other processes may print from now on.
    void begin_lines();
    /// They do not any more. What the program itself has asked for stays.
    void end_lines();
    /// Returns when what this process has printed comes before all that others print from now on.
    void take_place();

private:
    bool has_place() const;

    const int marks_, unread_;
    const std::atomic<std::uint32_t>& is_read_;
    std::mutex mutex_;       ///< held from a mark to its answer
    bool has_begun_ = false; ///< and lines were not what the program wanted
};

} // namespace kumiki::openmp
