#pragma once

namespace kumiki::openmp {

/// How the C library of this process keeps what the program prints before it writes it. While other processes may
/// print, it writes whole lines, so that theirs do not come in between; otherwise long pieces, as a program expects
/// whose output goes to a file, because a system call for each line takes time.
class StandardOutput {
public:
    StandardOutput();

    /// Other processes may print from now on.
    void begin_lines();
    /// They do not any more. What the program itself has asked for stays.
    void end_lines();

private:
    bool has_begun_ = false; ///< and lines were not what the program wanted
};

} // namespace kumiki::openmp
