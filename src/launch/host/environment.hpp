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
    /// The entries in the form that execve expects; they are valid until the next change.
    std::vector<char*> entries();

private:
    std::vector<std::string> entries_;
};

/// The settings that result from this process's environment and the options.
Result<Settings> read_settings_with(const Variables& options);

/// Sets the variables that are the same for all ranks of this host; `segment` is the descriptor of their shared memory.
void tell_job(Environment& environment, const Job& job, int segment);

/// Descriptors that a rank has beside its streams (RankStreams); -1: it has none.
struct RankDescriptors {
    int wireup, marks, unread;
};

/// Sets the variables of rank `rank` of this host.
void tell_rank(Environment& environment, const Job& job, int rank, const RankDescriptors& descriptors);

} // namespace kumiki::launch
