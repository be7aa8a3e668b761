#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/command/job.hpp"

namespace kumiki::launch {

/// The environment of a program to be started.
class Environment {
public:
    /// A copy of "NAME=value" entries, as in environ.
    explicit Environment(const char* const* entries);

    bool has(std::string_view name) const;
    void set(std::string_view name, std::string_view value);
    void remove(std::string_view name);
    /// As execve wants it: valid until the next change.
    std::vector<char*> entries();

private:
    std::vector<std::string> entries_;
};

/// What this process's environment and the options together say.
Result<Settings> read_settings_with(const Variables& options);

/// What the launcher tells all ranks of the job; `segment` is the descriptor of their shared memory.
void tell_job(Environment& environment, const Job& job, int segment);

/// What the launcher tells rank `rank` of this host; `wireup` is the descriptor of its socket, or -1.
void tell_rank(Environment& environment, const Job& job, int rank, int wireup);

} // namespace kumiki::launch
